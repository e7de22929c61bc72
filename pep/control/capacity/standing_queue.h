// How long packets wait at least on the way there: what their one-way delay exceeds that of the
// empty path by, for a round trip on end. The delay of the path itself is the least that was seen;
// where it has become longer (a handover), nothing would ever tell: so whoever reduces what he
// sends and sees no effect asks for a test, a pause after which a queue must be shorter.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/control/capacity/delay_trend.h"

namespace satrelay::control {

class StandingQueue {
 public:
  void clear() { *this = {}; }
  // The newest packet of which a report speaks; `span`: how long the queue must have stood.
  void add(const DelayTrend::Point& point, Duration span);
  // What is left when the shortest of a span is compared with the path; zero without a queue.
  Duration length() const { return length_; }
  // All packets sent in the last span, and one was seen since.
  bool is_known() const { return known_; }
  // The path has become longer by so much.
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
