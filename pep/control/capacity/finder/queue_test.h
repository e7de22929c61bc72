// Tests why the delay stays high although the rate was lowered: because of a queue, or because the
// path has become longer. The session pauses, and the delay of the first packet after the pause is
// compared with the delay before. A pause shortens a queue, but not a path.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class QueueTest {
 public:
  enum class Verdict : std::uint8_t { kNone, kQueue, kLongerPath };
  struct Seen {
    Duration queue;  // the standing queue
    Duration rtt;
    bool may_pause;  // no train is being sent or measured
  };

  // Call when packet `number`, which carries stream bytes, is sent.
  void on_sent(std::uint64_t number, Instant now);
  Verdict on_feedback(const FeedbackSample& sample, const Seen& seen);
  bool is_running() const { return is_running_; }
  Instant pause_until() const { return pause_until_; }

 private:
  Verdict judge(const FeedbackSample& sample, Duration queue);

  Instant stands_since_ = Instant::never();
  Duration stood_;  // length of the queue at stands_since_
  Instant pause_until_;
  Duration before_pause_;  // one-way delay
  std::uint64_t first_behind_ = 0;
  bool is_running_ = false;
};

}  // namespace satrelay::control
