#include "relay/gateway/peers/host_arrivals.h"

#include <algorithm>
#include <array>

namespace satrelay::gateway {

bool HostArrivals::tell(const HostArrival& arrival, Instant now) {
  if (session_.peer_state() != stp::PeerState::kAlive || !are_understood()) return false;
  if (std::ranges::find(waiting_, arrival) != waiting_.end()) return true;
  if (waiting_.size() == kMostWaiting) return false;
  waiting_.push_back(arrival);
  send(now);
  return true;
}

// If the session can open no stream now, send() is called again after kBetween.
void HostArrivals::send(Instant now) {
  if (waiting_.empty() || now < next_) return;
  next_ = now + kBetween;
  std::array<std::byte, kMaxHostArrival> bytes{};
  const std::size_t size = write_host_arrival(waiting_.front(), bytes);
  if (messages_.open(ConstBytes(bytes).first(size), now)) {
    waiting_.erase(waiting_.begin());
  }
}

void HostArrivals::handle_opened(stp::StreamId stream, Instant now) {
  const bool agreed = are_understood();
  if (agreed) heard_ = parse_host_arrival(session_.streams().metadata(stream));
  const auto taken = heard_ ? stp::ResetReason::kNone : stp::ResetReason::kProtocolError;
  session_.streams().reset(stream, agreed ? taken : stp::ResetReason::kPolicy, now);
}

}  // namespace satrelay::gateway
