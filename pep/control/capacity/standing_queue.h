// Measures a standing queue on the way to the receiver. Its length is the least one-way delay
// during a round trip, minus the delay of the empty path. The delay of the empty path is the least
// delay that was seen. A path that has become longer (a handover) looks like a standing queue. So
// if a controller reduces its rate without effect, it tests for a queue with a pause: a queue must
// be shorter after the pause.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/control/capacity/delay_trend.h"

namespace satrelay::control {

class StandingQueue {
 public:
  void clear() { *this = {}; }
  // Adds the newest packet of a report. `span` is how long a queue must last to be a standing one.
  void add(const DelayTrend::Point& point, Duration span);
  // The length of the standing queue: the smallest delay in the current span and the span before,
  // minus the delay of the path. Zero if there is no standing queue.
  Duration length() const { return length_; }
  // Call when the path has become longer by `by`.
  void lengthen_path(Duration by) { path_ = path_ + by; }
  Duration path() const { return path_; }

 private:
  bool known_ = false;
  Duration path_;
  Instant path_seen_;
  // The least delay in the current span and in the previous span.
  Duration least_, least_before_;
  Instant span_began_;
  Duration length_;
};

}  // namespace satrelay::control
