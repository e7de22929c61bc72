// Instants and durations, in nanoseconds. An Instant counts from an epoch that the host of the
// engine chooses (process start, simulation start). Engines only compare instants, subtract them,
// and add durations.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace satrelay {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration nanoseconds(std::int64_t n) { return Duration(n); }
  static constexpr Duration microseconds(std::int64_t n) { return Duration(n * 1'000); }
  static constexpr Duration milliseconds(std::int64_t n) { return Duration(n * 1'000'000); }
  static constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000'000); }
  static constexpr Duration zero() { return Duration(0); }
  static constexpr Duration infinite() { return Duration(kInfinite); }

  constexpr std::int64_t to_nanoseconds() const { return nanoseconds_; }
  constexpr std::int64_t to_microseconds() const { return nanoseconds_ / 1'000; }
  constexpr std::int64_t to_milliseconds() const { return nanoseconds_ / 1'000'000; }
  constexpr double to_seconds() const { return static_cast<double>(nanoseconds_) / 1e9; }
  constexpr bool is_infinite() const { return nanoseconds_ == kInfinite; }

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) {
    return a.is_infinite() || b.is_infinite() ? infinite()
                                              : Duration(a.nanoseconds_ + b.nanoseconds_);
  }
  friend constexpr Duration operator-(Duration a, Duration b) {
    return a.is_infinite() ? a : Duration(a.nanoseconds_ - b.nanoseconds_);
  }
  friend constexpr Duration operator*(Duration a, std::int64_t n) {
    return a.is_infinite() ? a : Duration(a.nanoseconds_ * n);
  }
  friend constexpr Duration operator/(Duration a, std::int64_t n) {
    return a.is_infinite() ? a : Duration(a.nanoseconds_ / n);
  }
  friend constexpr std::int64_t operator/(Duration a, Duration b) {
    return a.nanoseconds_ / b.nanoseconds_;
  }

 private:
  static constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();
  constexpr explicit Duration(std::int64_t n) : nanoseconds_(n) {}
  std::int64_t nanoseconds_ = 0;
};

class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant from_nanoseconds(std::int64_t n) { return Instant(n); }
  // Later than every other instant. As a deadline, it means that no timer is armed.
  static constexpr Instant never() { return Instant(kNever); }

  constexpr std::int64_t to_nanoseconds() const { return nanoseconds_; }
  constexpr bool is_never() const { return nanoseconds_ == kNever; }

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) {
    return t.is_never() || d.is_infinite() ? never() : Instant(t.nanoseconds_ + d.to_nanoseconds());
  }
  friend constexpr Instant operator-(Instant t, Duration d) {
    return t.is_never() ? t : Instant(t.nanoseconds_ - d.to_nanoseconds());
  }
  friend constexpr Duration operator-(Instant a, Instant b) {
    return a.is_never() ? Duration::infinite()
                        : Duration::nanoseconds(a.nanoseconds_ - b.nanoseconds_);
  }
  constexpr Instant& operator+=(Duration d) { return *this = *this + d; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  constexpr explicit Instant(std::int64_t n) : nanoseconds_(n) {}
  std::int64_t nanoseconds_ = 0;
};

constexpr Instant earlier(Instant a, Instant b) { return a < b ? a : b; }
constexpr Instant later(Instant a, Instant b) { return a < b ? b : a; }

}  // namespace satrelay
