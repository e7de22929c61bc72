// The least time that packets wait in a queue on the way to the receiver: by how much their one-way
// delay exceeds the delay of the empty path, for a whole round trip. The delay of the empty path is
// the least that was seen. If the path has become longer (a handover), nothing shows it. So if a
// controller reduces its rate without effect, it makes a test: a pause, after which a queue must be
// shorter.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/control/capacity/delay_trend.h"

namespace satrelay::control {

class StandingQueue {
 public:
  void clear() { *this = {}; }
  // Takes the newest packet of a report. `span`: how long the queue must have stood.
  void add(const DelayTrend::Point& point, Duration span);
  // The least delay of a span, less the delay of the path; zero without a queue.
  Duration length() const { return length_; }
  // The path has become longer by `by`.
  void lengthen_path(Duration by) { path_ = path_ + by; }
  Duration path() const { return path_; }

 private:
  bool known_ = false;
  Duration path_;
  Instant path_seen_;
  // The least delay in this span and in the one before.
  Duration least_, least_before_;
  Instant span_began_;
  Duration length_;
};

}  // namespace satrelay::control
