// Whether the queue on the way there grows without end, seen in the one-way delay of the newest
// packets that feedback speaks of. Only growth counts, never the delay itself, and its largest
// jumps are left out: so a path that becomes longer at once (a handover), jitter and a slow report
// are no queue. Neither is the time that the newest packet itself takes on the link: on a narrow
// one a long packet behind a short one is later by that. Loss plays no part.
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
    Duration spacing;       // of the points that are kept: those of least delay
    std::size_t jumps;      // so many of the largest are left out; at most 4
    Duration least_growth;  // of the rest
  };
  struct Point {
    Instant sent;
    Instant arrived;
    ByteCount received;
    Duration lateness = {};  // so much of the delay may be a machine's
    Duration own = {};       // and so much that of the packet, and of what was booked before it
    // Only differences mean something: two clocks are involved.
    Duration delay() const { return arrived - sent; }
    // Without what may be no queue's.
    Duration certain_delay() const { return delay() - lateness - own; }
  };

  explicit DelayTrend(const Config& config) : config_(config) {}

  void clear() { count_ = 0; }
  // Samples come in the order of `sent`; one that repeats a packet changes nothing.
  void add(const Point& point);
  // Whether the delay has grown, and the newest is not on its way down.
  bool grows() const;
  // What arrived a second while the delay grew; nullopt if it did not.
  std::optional<BitRate> arrival_rate() const;
  // And what of it was sent a second: zero if that is not known.
  BitRate sending_rate() const;
  // The least delay of packets sent within `span` before `end`; nullopt if there were none.
  std::optional<Duration> least_delay(Instant end, Duration span) const;
  const Point& newest() const { return at(count_ - 1); }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::size_t kPoints = 64;
  const Point& at(std::size_t index) const { return points_[(first_ + index) % kPoints]; }
  // The last point of least delay: where the growth began.
  std::size_t lowest() const;
  // The first point that shows how fast packets arrive since then.
  std::size_t turn() const;
  Config config_;
  std::array<Point, kPoints> points_{};
  Instant slot_began_;  // of the newest point
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

// Arrived bits a second between two points; zero if no time passed.
BitRate arrival_rate(const DelayTrend::Point& from, const DelayTrend::Point& to);

}  // namespace satrelay::control
