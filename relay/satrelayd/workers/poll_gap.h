// How well the worker attends to a port: how long frames may have waited there before it took them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::satrelayd {

class PollGap {
 public:
  // The worker meant to rest for so long, and the machine let it. What came meanwhile was not kept
  // waiting: frames end a long rest.
  void on_rest(Duration rest) {
    if (left_nothing_) empty_at_ = empty_at_ + rest;
  }
  // It has asked for `room` frames at `asked`, and had `count` by `now`: how long the oldest of
  // them may have waited at most.
  Duration on_received(std::size_t count, std::size_t room, Instant asked, Instant now) {
    const Duration waited = std::max(Duration::zero(), now - empty_at_);
    left_nothing_ = count < room;
    if (left_nothing_) empty_at_ = asked;
    return waited;
  }

 private:
  Instant empty_at_;  // the port, as far as is known
  bool left_nothing_ = true;
};

}  // namespace satrelay::satrelayd
