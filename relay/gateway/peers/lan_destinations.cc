#include "relay/gateway/peers/lan_destinations.h"

#include <algorithm>
#include <array>

#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

bool LanDestinations::tell(const LanDestination& told, Instant now) {
  if (session_.peer_state() != stp::PeerState::kAlive || !are_understood()) return false;
  const auto same = std::ranges::find_if(waiting_, [&](const LanDestination& each) {
    return each.near == told.near && each.far == told.far &&
           vlans_of(each.ethernet) == vlans_of(told.ethernet);
  });
  if (same != waiting_.end()) {
    *same = told;
    return true;
  }
  if (waiting_.size() == kMostWaiting) return false;
  waiting_.push_back(told);
  send(now);
  return true;
}

// If the session can open no stream now, send() is called again after kBetween.
void LanDestinations::send(Instant now) {
  if (waiting_.empty() || now < next_) return;
  next_ = now + kBetween;
  std::array<std::byte, kMaxLanDestination> bytes{};
  const std::size_t size = write_lan_destination(waiting_.front(), bytes);
  if (messages_.open(ConstBytes(bytes).first(size), now)) {
    waiting_.erase(waiting_.begin());
  }
}

void LanDestinations::handle_opened(stp::StreamId stream, Instant now) {
  const bool agreed = are_understood();
  if (agreed) heard_ = parse_lan_destination(session_.streams().metadata(stream));
  const auto taken = heard_ ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError;
  session_.streams().reset(stream, agreed ? taken : stp::ResetReason::kPolicy, now);
}

}  // namespace satrelay::gateway
