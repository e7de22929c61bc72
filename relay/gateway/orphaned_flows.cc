#include "relay/gateway/orphaned_flows.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "relay/gateway/tcp_frame.h"

namespace satrelay::gateway {
namespace {

// How long after being asked a host is asked again, or given up: SYN, challenge ACK and RST may
// each be lost, and hosts limit their challenge ACKs (RFC 5961 section 5).
constexpr std::array<Duration, 8> kPatience = {
    Duration::zero(),     Duration::seconds(1), Duration::seconds(1),  Duration::seconds(2),
    Duration::seconds(4), Duration::seconds(8), Duration::seconds(16), Duration::seconds(60)};
// SYNs leave at this distance, so that a full table is no burst that the LAN drops.
constexpr Duration kSpacing = Duration::microseconds(20);

}  // namespace

void OrphanedFlows::add(const OpenMetadata& flow, ClientSide client, Instant now) {
  const bool here = client == ClientSide::kHere;
  const FlowKey key{here ? flow.client : flow.server, here ? flow.server : flow.client,
                    here ? flow.client_port : flow.server_port,
                    here ? flow.server_port : flow.client_port, vlans_of(flow.ethernet)};
  if (table_.size() >= most_) return;
  Orphan orphan{.to_host = flow.ethernet};
  if (here) std::swap(orphan.to_host.source, orphan.to_host.destination);
  if (!table_.emplace(key, orphan).second) return;
  counters_.add(Counter::kFlowsOrphaned);
  due_[0].push_back({now, key});
}

bool OrphanedFlows::handle_segment(const FlowKey& key, const wire::EthernetHeader& from,
                                   const wire::TcpHeader& header) {
  if (table_.empty()) return false;
  const auto found = table_.find(key);
  if (found == table_.end()) return false;
  using Flags = wire::TcpFlags;
  if (header.has(Flags::kRst)) {
    count_end(found->second);
    table_.erase(found);
    return true;
  }
  if (header.has(Flags::kSyn) && !header.has(Flags::kAck)) {
    count_end(found->second);
    table_.erase(found);
    return false;
  }
  counters_.add(Counter::kDroppedOrphaned);
  if (!header.has(Flags::kAck) || resets_.size() >= kMostResets) return true;
  // RFC 9293 section 3.10.7.1: <SEQ=SEG.ACK><CTL=RST>, which is what the host expects next.
  wire::EthernetHeader& to_host = found->second.to_host;
  to_host = from;
  std::swap(to_host.source, to_host.destination);
  resets_.push_back({key, to_host, header.acknowledgment});
  found->second.was_reset = true;
  return true;
}

void OrphanedFlows::forget(const FlowKey& key) {
  const auto found = table_.find(key);
  if (found == table_.end()) return;
  count_end(found->second);
  table_.erase(found);
}

void OrphanedFlows::count_end(const Orphan& orphan) {
  counters_.add(orphan.was_reset ? Counter::kOrphansReset : Counter::kOrphansGone);
}

void OrphanedFlows::handle_timeout(Instant now) {
  // Those that were asked often enough.
  std::deque<Due>& last = due_[std::size(due_) - 1];
  while (!last.empty() && last.front().when <= now) {
    const auto found = table_.find(last.front().key);
    if (found != table_.end() && found->second.tries + 1U >= std::size(due_)) {
      counters_.add(found->second.was_reset ? Counter::kOrphansReset : Counter::kOrphansSilent);
      table_.erase(found);
    }
    last.pop_front();
  }
}

std::size_t OrphanedFlows::poll_frame(MutableBytes out, Instant now) {
  wire::TcpHeader header;
  if (!resets_.empty()) {
    const Reset reset = resets_.front();
    resets_.pop_front();
    header.sequence = reset.sequence;
    header.flags = wire::TcpFlags::kRst;
    return write_bare_segment(reset.to_host, reset.key, header, out);
  }
  if (now < next_ask_) return 0;
  for (std::size_t tries = 0; tries + 1 < std::size(due_); ++tries) {
    std::deque<Due>& queue = due_[tries];
    while (!queue.empty() && queue.front().when <= now) {
      const FlowKey key = queue.front().key;
      queue.pop_front();
      const auto found = table_.find(key);
      if (found == table_.end() || found->second.tries > tries) continue;
      Orphan& orphan = found->second;
      orphan.tries = static_cast<std::uint8_t>(tries + 1);
      due_[orphan.tries].push_back({now + kPatience[orphan.tries], key});
      next_ask_ = now + kSpacing;
      header.sequence = initial_sequence(secret_, key, now.to_nanoseconds());
      header.flags = wire::TcpFlags::kSyn;
      return write_bare_segment(orphan.to_host, key, header, out);
    }
  }
  return 0;
}

Instant OrphanedFlows::next_timeout() const {
  if (!resets_.empty()) return Instant();
  Instant next = Instant::never();
  for (std::size_t tries = 0; tries < std::size(due_); ++tries) {
    if (due_[tries].empty()) continue;
    const bool asks = tries + 1 < std::size(due_);
    next = earlier(next,
                   asks ? std::max(due_[tries].front().when, next_ask_) : due_[tries].front().when);
  }
  return next;
}

}  // namespace satrelay::gateway
