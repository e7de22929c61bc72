#include "relay/gateway/opening/unplaced_acks.h"

namespace satrelay::gateway {

void UnplacedAcks::add(const FlowKey& key, const wire::EthernetHeader& to_host,
                       const wire::TcpHeader& ack, Instant now) {
  std::size_t of_host = 0;
  for (const Entry& each : waiting_) {
    if (each.key == key) return;
    if (each.key.local == key.local) ++of_host;
  }
  if (waiting_.size() == kMost || of_host == kMostOfOneHost) return;
  waiting_.push_back({key, to_host, ack.acknowledgment, now + kPatience});
}

void UnplacedAcks::erase(const FlowKey& key) {
  std::erase_if(waiting_, [&](const Entry& each) { return each.key == key; });
}

void UnplacedAcks::handle_timeout(Instant now) {
  while (!waiting_.empty() && now >= waiting_.front().until && !resets_.full()) {
    const Entry& first = waiting_.front();
    resets_.push_reset(first.to_host, first.key, first.expects);
    counters_.add(Counter::kResetAfterCookie);
    waiting_.pop_front();
  }
}

Instant UnplacedAcks::next_timeout() const {
  if (!resets_.empty()) return Instant();
  return waiting_.empty() ? Instant::never() : waiting_.front().until;
}

}  // namespace satrelay::gateway
