#include "pep/control/capacity/delay_trend.h"

#include <algorithm>

namespace satrelay::control {

namespace {

BitRate bits_a_second(ByteCount bytes, Duration time) {
  if (time <= Duration::zero()) return {};
  const auto bits = static_cast<double>(bytes.value()) * 8;
  return BitRate::bits_per_second(
      static_cast<std::uint64_t>(bits * 1e9 / static_cast<double>(time.to_nanoseconds())));
}

}  // namespace

BitRate arrival_rate(const DelayTrend::Point& from, const DelayTrend::Point& to) {
  return bits_a_second(to.received - from.received, to.arrived - from.arrived);
}

void DelayTrend::add(const Point& point) {
  if (count_ > 0) {
    Point& last = points_[(first_ + count_ - 1) % kPoints];
    if (point.sent <= last.sent) return;
    if (point.arrived < slot_began_ + config_.spacing) {
      if (point.delay() <= last.delay()) last = point;
      return;
    }
  }
  slot_began_ = point.arrived;
  if (count_ == kPoints) {
    first_ = (first_ + 1) % kPoints;
    --count_;
  }
  points_[(first_ + count_) % kPoints] = point;
  ++count_;
}

std::size_t DelayTrend::lowest() const {
  std::size_t lowest = 0;
  for (std::size_t i = 1; i < count_; ++i) {
    if (at(i).delay() <= at(lowest).delay()) lowest = i;
  }
  return lowest;
}

bool DelayTrend::grows() const {
  if (count_ < config_.jumps + 2) return false;
  const std::size_t begin = lowest();
  // The largest jumps, in descending order.
  std::array<Duration, 4> jumps{};
  Duration highest = at(begin).certain_delay();
  for (std::size_t i = begin + 1; i < count_; ++i) {
    highest = std::max(highest, at(i).certain_delay());
    Duration jump = at(i).delay() - at(i - 1).delay();
    for (std::size_t k = 0; k < std::min(config_.jumps, jumps.size()); ++k) {
      if (jump > jumps[k]) std::swap(jump, jumps[k]);
    }
  }
  const Duration growth = newest().certain_delay() - at(begin).delay();
  Duration steady = growth;
  for (std::size_t k = 0; k < std::min(config_.jumps, jumps.size()); ++k) {
    steady = steady - jumps[k];
  }
  const bool falls = highest - newest().certain_delay() > config_.least_growth / 2;
  return steady >= config_.least_growth && !falls;
}

std::size_t DelayTrend::turn() const {
  const std::size_t begin = lowest();
  // Skips a point: packets that arrived just after the growth began were sent before it began.
  return begin + 2 < count_ ? begin + 1 : begin;
}

std::optional<BitRate> DelayTrend::arrival_rate() const {
  if (count_ < 2 || turn() + 1 >= count_) return std::nullopt;
  const BitRate rate = control::arrival_rate(at(turn()), newest());
  if (rate.is_zero()) return std::nullopt;
  return rate;
}

BitRate DelayTrend::sending_rate() const {
  if (count_ < 2) return {};
  const Point& from = at(turn());
  return bits_a_second(newest().received - from.received, newest().sent - from.sent);
}

std::optional<Duration> DelayTrend::least_delay(Instant end, Duration span) const {
  std::optional<Duration> least;
  for (std::size_t i = 0; i < count_; ++i) {
    const Point& point = at(i);
    if (point.sent >= end || point.sent < end - span) continue;
    least = least ? std::min(*least, point.delay()) : point.delay();
  }
  return least;
}

}  // namespace satrelay::control
