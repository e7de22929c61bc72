// Measures how long frames may have waited in a port before the worker received them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class PollGap {
 public:
  // Call this after a rest. `rest` is the planned length of the rest, without oversleeping. No
  // frame waits during a long rest, since its arrival ends the rest. So the planned rest does not
  // count as waiting time.
  void on_rest(Duration rest) {
    if (left_nothing_) empty_at_ = empty_at_ + rest;
  }
  // Call this when the worker has received frames: it asked for `room` frames at `asked`, and got
  // `count` frames by `now`. Returns the longest time that the oldest of these frames may have
  // waited.
  Duration on_received(std::size_t count, std::size_t room, Instant asked, Instant now) {
    const Duration waited = std::max(Duration::zero(), now - empty_at_);
    left_nothing_ = count < room;
    if (left_nothing_) empty_at_ = asked;
    return waited;
  }

 private:
  Instant empty_at_;  // time at which the port was last known to be empty
  bool left_nothing_ = true;
};

}  // namespace satrelay::satrelayd
