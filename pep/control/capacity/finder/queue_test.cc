#include "pep/control/capacity/finder/queue_test.h"

#include <algorithm>

#include "pep/control/capacity/finder/link_model.h"

namespace satrelay::control {
namespace {

constexpr Duration kLongestPause = Duration::milliseconds(50);
// A queue is tested if it lasts for three round trips plus this time, although the rate was
// lowered. The test does not begin earlier, because reports show the effect of a lower rate about
// two round trips later.
constexpr Duration kStandingTime = Duration::seconds(1);

}  // namespace

void QueueTest::on_sent(std::uint64_t number, Instant now) {
  if (is_running_ && first_behind_ == 0 && now >= pause_until_) first_behind_ = number;
}

QueueTest::Verdict QueueTest::judge(const FeedbackSample& sample, Duration queue) {
  if (first_behind_ == 0 || sample.number < first_behind_) return Verdict::kNone;
  is_running_ = false;
  stands_since_ = Instant::never();
  const Duration pause = std::min(queue, kLongestPause);
  const Duration delay = sample.arrived - sample.sent;
  return before_pause_ - delay >= pause / 2 ? Verdict::kQueue : Verdict::kLongerPath;
}

QueueTest::Verdict QueueTest::on_feedback(const FeedbackSample& sample, const Seen& seen) {
  if (is_running_) return judge(sample, seen.queue);
  if (seen.queue < kLeastStanding) {
    stands_since_ = Instant::never();
    return Verdict::kNone;
  }
  if (stands_since_.is_never() || seen.queue * 10 < stood_ * 7) {
    stands_since_ = sample.now;
    stood_ = seen.queue;
    return Verdict::kNone;
  }
  if (sample.now - stands_since_ < seen.rtt * 3 + kStandingTime) return Verdict::kNone;
  if (!seen.may_pause) return Verdict::kNone;
  is_running_ = true;
  first_behind_ = 0;
  before_pause_ = sample.arrived - sample.sent;
  pause_until_ = sample.now + std::min(seen.queue, kLongestPause);
  return Verdict::kNone;
}

}  // namespace satrelay::control
