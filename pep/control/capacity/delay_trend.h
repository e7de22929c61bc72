// Detects a queue on the way to the receiver that keeps growing, from the one-way delay of the
// newest packets in feedback. Only growth of the delay counts, and the largest jumps are left out.
// So a path that suddenly becomes longer (a handover), jitter and a slow report are not taken for a
// queue. The time that the newest packet itself takes on the link does not count either: on a
// narrow link, a long packet takes longer than a short packet before it. Loss is not considered.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class DelayTrend {
 public:
  struct Config {
    // Length of an interval. One point is kept for each interval: the point with the least delay.
    Duration spacing;
    std::size_t jumps;  // number of the largest jumps that are left out; at most 4
    // Growth of the delay, without these jumps, from which on it counts as a queue.
    Duration least_growth;
  };
  struct Point {
    Instant sent;
    Instant arrived;
    ByteCount received;
    Duration lateness = {};  // the part of the delay that a late machine may have caused
    Duration own = {};  // time that the link needs for the packet and the bytes booked before it
    // Only differences between delays have a meaning, because two clocks are involved.
    Duration delay() const { return arrived - sent; }
    // The delay without the parts that may have another cause than a queue.
    Duration certain_delay() const { return delay() - lateness - own; }
  };

  explicit DelayTrend(const Config& config) : config_(config) {}

  void clear() { count_ = 0; }
  // Points must be added in the order of `sent`. A point with the same packet as the last point is
  // ignored.
  void add(const Point& point);
  // Whether the delay has grown and is not falling at the newest point.
  bool grows() const;
  // Rate at which bytes arrived while the delay grew; nullopt if the delay did not grow.
  std::optional<BitRate> arrival_rate() const;
  // Rate at which the same bytes were sent; zero if it is unknown.
  BitRate sending_rate() const;
  // The least delay of packets sent within `span` before `end`; nullopt if there were none.
  std::optional<Duration> least_delay(Instant end, Duration span) const;
  const Point& newest() const { return at(count_ - 1); }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::size_t kPoints = 64;
  const Point& at(std::size_t index) const { return points_[(first_ + index) % kPoints]; }
  // Index of the last point with the least delay, where the growth began.
  std::size_t lowest() const;
  // Index of the point at which the measurement of the rate of arrival begins.
  std::size_t turn() const;
  Config config_;
  std::array<Point, kPoints> points_{};
  Instant slot_began_;  // when the interval of the newest point began
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

// Rate of arrival between two points; zero if no time passed.
BitRate arrival_rate(const DelayTrend::Point& from, const DelayTrend::Point& to);

}  // namespace satrelay::control
