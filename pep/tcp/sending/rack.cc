#include "pep/tcp/sending/rack.h"

#include <algorithm>

namespace satrelay::tcp {
namespace {

constexpr std::uint8_t kRecoveriesToForget = 16;
constexpr std::uint8_t kLargestMultiple = 255;
// The minimum RTT expires after this time, in case the path has become longer.
constexpr Duration kMinimumRttLife = Duration::seconds(300);

}  // namespace

void Rack::on_delivered(Range range, const Arrival& arrival) {
  segments_.deliver(range,
                    [&](const SentSegments::Segment& segment) { consider(segment, arrival); });
}

void Rack::consider(const SentSegments::Segment& segment, const Arrival& arrival) {
  if (segment.range.end > highest_delivered_) {
    highest_delivered_ = segment.range.end;
  } else if (!segment.retransmitted) {
    reordering_seen_ = true;  // section 6.2 step 3
  }
  const Duration rtt = arrival.now - segment.sent_at;
  if (segment.retransmitted) {
    // Step 2: the original may have been delivered instead of the retransmission.
    if (arrival.echoed_before <= segment.sent_at || rtt < minimum_rtt_) return;
  } else {
    take_rtt(rtt, arrival.now);
  }
  if (was_sent_before_newest(segment)) return;
  newest_sent_at_ = segment.sent_at;
  newest_end_ = segment.range.end;
  rtt_ = rtt;
}

void Rack::take_rtt(Duration rtt, Instant now) {
  rtt = std::max(rtt, Duration::microseconds(1));
  if (rtt > minimum_rtt_ && now < minimum_rtt_expires_) return;
  minimum_rtt_ = rtt;
  minimum_rtt_expires_ = now + kMinimumRttLife;
}

void Rack::on_duplicate_report(std::uint64_t una, std::uint64_t next) {
  if (duplicate_round_ && una >= *duplicate_round_) duplicate_round_.reset();
  if (duplicate_round_) return;
  duplicate_round_ = next;
  if (multiple_ < kLargestMultiple) ++multiple_;
  multiple_left_ = kRecoveriesToForget;
}

void Rack::on_recovery_exit() {
  if (multiple_left_ > 0 && --multiple_left_ == 0) multiple_ = 1;
}

// Section 6.2 step 4.
Duration Rack::window(const Circumstances& circumstances) const {
  if (!reordering_seen_ &&
      (circumstances.in_recovery || segments_.sacked() >= kDuplicateThreshold)) {
    return Duration::zero();
  }
  if (minimum_rtt_.is_infinite()) return Duration::zero();
  return std::min(minimum_rtt_ * multiple_ / 4, circumstances.smoothed_rtt);
}

}  // namespace satrelay::tcp
