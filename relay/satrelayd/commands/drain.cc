#include "relay/satrelayd/commands/drain.h"

#include <algorithm>

namespace satrelay::satrelayd {
namespace {

constexpr Duration kLookEvery = Duration::milliseconds(100);
constexpr Duration kWordEvery = Duration::seconds(10);
// After its last flow has ended, the gateway continues for kLinger plus kLingerRoundTrips round
// trips. The peer's end of the flow needs our last reports, which may be lost and sent again. Also,
// a stream may be in flight that the peer opened before it knew of the drain.
constexpr Duration kLinger = Duration::seconds(1);
constexpr std::int64_t kLingerRoundTrips = 2;

std::string flows_left(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " flow" : " flows") + " left";
}

}  // namespace

void Drain::begin(Duration timeout, Instant now) {
  under_way_ = true;
  engines_.set_admission(gateway::Admission::kDraining, now);
  ends_at_ = timeout.is_infinite() ? Instant::never() : now + timeout;
  next_look_ = now;
  next_word_ = now;
}

bool Drain::is_over(Instant now) {
  if (!is_due(now)) return false;
  next_look_ = now + kLookEvery;
  const std::size_t left = engines_.unfinished_flows();
  if (left > 0) {
    empty_since_ = Instant::never();
  } else if (empty_since_.is_never()) {
    empty_since_ = now;
  }
  if (now >= ends_at_) {
    log_("drain: its time is up, " + flows_left(left));
    return true;
  }
  if (left == 0 &&
      now >= empty_since_ + kLinger + engines_.longest_round_trip() * kLingerRoundTrips) {
    log_("drain: no flows left");
    return true;
  }
  if (now >= next_word_) {
    next_word_ = now + kWordEvery;
    log_("drain: " + flows_left(left));
  }
  return false;
}

bool Drain::is_over_blindly(Instant now) {
  if (!is_due(now)) return false;
  next_look_ = now + kLookEvery;
  empty_since_ = Instant::never();
  if (now < ends_at_) return false;
  log_("drain: its time is up");
  return true;
}

}  // namespace satrelay::satrelayd
