// Byte counts and bit rates as types, so that a rate cannot be passed as a size.
#pragma once

#include <compare>
#include <cstdint>

#include "pep/base/int128.h"
#include "pep/base/time.h"

namespace satrelay {

class ByteCount {
 public:
  constexpr ByteCount() = default;
  constexpr explicit ByteCount(std::uint64_t bytes) : bytes_(bytes) {}
  constexpr std::uint64_t value() const { return bytes_; }

  friend constexpr auto operator<=>(ByteCount, ByteCount) = default;
  friend constexpr ByteCount operator+(ByteCount a, ByteCount b) {
    return ByteCount(a.bytes_ + b.bytes_);
  }
  // Saturates at zero: sizes are never negative.
  friend constexpr ByteCount operator-(ByteCount a, ByteCount b) {
    return ByteCount(a.bytes_ > b.bytes_ ? a.bytes_ - b.bytes_ : 0);
  }
  friend constexpr ByteCount operator*(ByteCount a, std::uint64_t n) {
    return ByteCount(a.bytes_ * n);
  }
  constexpr ByteCount& operator+=(ByteCount b) { return *this = *this + b; }
  constexpr ByteCount& operator-=(ByteCount b) { return *this = *this - b; }

 private:
  std::uint64_t bytes_ = 0;
};

class BitRate {
 public:
  constexpr BitRate() = default;
  static constexpr BitRate bits_per_second(std::uint64_t n) { return BitRate(n); }
  constexpr std::uint64_t to_bits_per_second() const { return bits_per_second_; }
  constexpr bool is_zero() const { return bits_per_second_ == 0; }

  // Time needed to send `bytes` at this rate, rounded up; infinite at rate zero. The product needs
  // 128 bits: for the bytes that 10 Gbit/s carries in 600 ms, it already has 63 bits.
  constexpr Duration time_for(ByteCount bytes) const {
    if (is_zero()) return Duration::infinite();
    const auto nanobits = static_cast<Uint128>(bytes.value()) * kNanobits;
    return Duration::nanoseconds(
        static_cast<std::int64_t>(quotient(nanobits + bits_per_second_ - 1, bits_per_second_)));
  }
  // Bytes that can be sent within `d` at this rate, rounded down; zero for negative durations.
  constexpr ByteCount bytes_in(Duration d) const {
    if (d <= Duration::zero()) return ByteCount(0);
    const auto nanobits =
        static_cast<Uint128>(bits_per_second_) * static_cast<std::uint64_t>(d.to_nanoseconds());
    return ByteCount(quotient(nanobits, kNanobits));
  }
  // This rate times numerator / denominator.
  constexpr BitRate scaled(std::uint64_t numerator, std::uint64_t denominator) const {
    return BitRate(quotient(static_cast<Uint128>(bits_per_second_) * numerator, denominator));
  }
  friend constexpr auto operator<=>(BitRate, BitRate) = default;

 private:
  // 8 bits in a byte times 10^9 nanoseconds in a second.
  static constexpr std::uint64_t kNanobits = 8'000'000'000U;
  constexpr explicit BitRate(std::uint64_t n) : bits_per_second_(n) {}
  std::uint64_t bits_per_second_ = 0;
};

}  // namespace satrelay
