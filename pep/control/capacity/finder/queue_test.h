// Tests a queue that stands though the rate was lowered: a pause, then the delay of the first
// packet behind it. If the delay is as it was, there is no queue, and the path has become longer.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class QueueTest {
 public:
  enum class Verdict : std::uint8_t { kNone, kQueue, kLongerPath };
  struct Seen {
    Duration queue;  // that stands
    Duration rtt;
    bool may_pause;  // no train is out
  };

  // Packet `number` of stream bytes leaves.
  void on_sent(std::uint64_t number, Instant now);
  Verdict on_feedback(const FeedbackSample& sample, const Seen& seen);
  bool is_running() const { return is_running_; }
  Instant pause_until() const { return pause_until_; }

 private:
  Verdict judge(const FeedbackSample& sample, Duration queue);

  Instant stands_since_ = Instant::never();
  Duration stood_;  // its length then
  Instant pause_until_;
  Duration before_pause_;  // delay
  std::uint64_t first_behind_ = 0;
  bool is_running_ = false;
};

}  // namespace satrelay::control
