#include "relay/gateway/recovery/orphaned_flows.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "relay/gateway/frames/bare_segment.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {

using Flags = wire::TcpFlags;

namespace {

// kPatience[n] is the time to wait after the nth SYN to a host: until the next SYN or, after the
// last SYN, until the gateway gives up. SYNs are repeated because the SYN, the challenge ACK and
// the RST may each be lost, and because hosts limit their challenge ACKs (RFC 5961 section 7).
constexpr std::array<Duration, 8> kPatience = {
    Duration::zero(),     Duration::seconds(1), Duration::seconds(1),  Duration::seconds(2),
    Duration::seconds(4), Duration::seconds(8), Duration::seconds(16), Duration::seconds(60)};
// Number of SYNs to a host that has moved. They are sent within four seconds. The gateway gives up
// after eight seconds.
constexpr std::size_t kTriesOfMoved = 4;
// Interval between two SYNs. Without the interval, the SYNs of a full table would be one burst, and
// the LAN would drop some of them.
constexpr Duration kSpacing = Duration::microseconds(20);
// Maximum number of orphans that one call visits without sending a frame.
constexpr int kOrphansPerCall = 64;

}  // namespace

bool OrphanedFlows::insert(const FlowKey& key, const Orphan& orphan, Instant now) {
  if (!has_room(orphan) || !table_of(key).emplace(key, orphan).second) return false;
  ++known_;
  if (orphan.listed_by) listed_.take(*orphan.listed_by);
  ++open_;
  counters_.add(Counter::kFlowsOrphaned);
  due_[0].push_back({now, key});
  return true;
}

void OrphanedFlows::recover(const FlowJournal::Record& flow, FlowJournal::Place place,
                            Instant now) {
  Orphan orphan;
  orphan.to_host = flow.to_host;
  orphan.place = place;
  if (!insert(flow.key, orphan, now)) journal_.release(place);
}

void OrphanedFlows::recover(Instant now) {
  for (FlowJournal::Place place = 0; place < journal_.places(); ++place) {
    if (const auto record = journal_.read(place)) recover(*record, place, now);
  }
}

OrphanedFlows::Listed OrphanedFlows::add(const LaneAddress& lane, const OpenMetadata& flow,
                                         ClientSide client, Instant now) {
  const bool here = client == ClientSide::kHere;
  FlowKey key{here ? flow.client : flow.server, here ? flow.server : flow.client,
              here ? flow.client_port : flow.server_port,
              here ? flow.server_port : flow.client_port, vlans_of(flow.ethernet)};
  const bool its_lane =
      lane.has_flow(flow_hash(flow.client, flow.server, flow.client_port, flow.server_port));
  if (!its_lane || !claims_.allow(lane.peer, {key.remote, key.local, flow.ethernet})) {
    counters_.add(Counter::kOrphansRefused);
    return Listed::kRefused;
  }
  Orphan orphan{.listed_by = lane.peer, .to_host = here ? flow.ethernet.reversed() : flow.ethernet};
  if (!here && lan_.is_routed(lane.peer)) {
    // If there is a router between the LANs, the Ethernet header that the peer has listed is
    // meaningless on this LAN.
    orphan.to_host = lan_.find(key.local, now);
    key.vlans = orphan.to_host ? vlans_of(*orphan.to_host) : decltype(key.vlans){};
  }
  if (insert(key, orphan, now) || table_of(key).contains(key)) return Listed::kTaken;
  return Listed::kNoRoom;
}

bool OrphanedFlows::handle_segment(const FlowKey& key, const wire::EthernetHeader& from,
                                   const wire::TcpHeader& header) {
  if (open_ == 0) return false;
  Table& table = table_of(key);
  const auto found = table.find(key);
  if (found == table.end() || found->second.is_over) return false;
  Orphan& orphan = found->second;
  if (header.has(Flags::kRst)) {
    end(orphan, how_it_ended(orphan));
    return true;
  }
  if (header.opens_connection()) {
    end(orphan, how_it_ended(orphan));
    return false;
  }
  counters_.add(Counter::kDroppedOrphaned);
  if (!header.has(Flags::kAck) || resets_.full()) return true;
  // RFC 9293 section 3.10.7.1: <SEQ=SEG.ACK><CTL=RST>. The host expects this sequence number next.
  if (!orphan.has_moved) orphan.to_host = from.reversed();
  resets_.push_reset(*orphan.to_host, key, header.acknowledgment);
  orphan.was_reset = true;
  return true;
}

void OrphanedFlows::forget(const FlowKey& key) {
  if (known_ == 0) return;
  Table& table = table_of(key);
  const auto found = table.find(key);
  if (found != table.end() && !found->second.is_over) {
    end(found->second, how_it_ended(found->second));
  }
}

void OrphanedFlows::end(Orphan& orphan, Counter counter) {
  orphan.is_over = true;
  --open_;
  counters_.add(counter);
  journal_.release(orphan.place);
}

void OrphanedFlows::handle_timeout(Instant now) {
  // The last queue has the orphans that need no further SYN, since all SYNs were sent or the orphan
  // is over.
  std::deque<Due>& last = due_[std::size(due_) - 1];
  for (int i = 0; i < kOrphansPerCall && !last.empty() && last.front().when <= now; ++i) {
    Table& table = table_of(last.front().key);
    const auto found = table.find(last.front().key);
    last.pop_front();
    if (found == table.end()) continue;
    Orphan& orphan = found->second;
    if (!orphan.is_over) {
      end(orphan, orphan.was_reset ? Counter::kOrphansReset : Counter::kOrphansSilent);
    }
    if (orphan.listed_by) listed_.give_back(*orphan.listed_by);
    table.erase(found);
    --known_;
  }
}

// Writes the SYN. Returns 0 if the host must first be found on the LAN. The gateway then sends an
// ARP request or a neighbour solicitation, and sends the SYN when the orphan is due again.
std::size_t OrphanedFlows::ask(const FlowKey& key, Orphan& orphan, MutableBytes out, Instant now) {
  if (!orphan.to_host) {
    orphan.to_host = lan_.find(key.local, now);
    if (!orphan.to_host || vlans_of(*orphan.to_host) != key.vlans) {
      orphan.to_host.reset();
      lan_.ask(key.local, now);
      return 0;
    }
  }
  orphan.to_host->type =
      // `to_host` may come from an ARP frame, which has another type
      key.local.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  next_ask_ = now + kSpacing;
  wire::TcpHeader syn;
  syn.sequence = initial_sequence(secret_, key, now.to_nanoseconds());
  syn.flags = wire::TcpFlags::kSyn;
  return write_bare_segment(*orphan.to_host, key, syn, out);
}

std::size_t OrphanedFlows::poll_frame(MutableBytes out, Instant now) {
  if (const std::size_t size = resets_.poll_frame(out); size > 0) return size;
  if (now < next_ask_) return 0;
  constexpr std::size_t kLast = kPatience.size() - 1;
  int left = kOrphansPerCall;
  for (std::size_t tries = 0; tries < kLast; ++tries) {
    std::deque<Due>& queue = due_[tries];
    for (; left > 0 && !queue.empty() && queue.front().when <= now; --left) {
      const FlowKey key = queue.front().key;
      queue.pop_front();
      Table& table = table_of(key);
      const auto found = table.find(key);
      if (found == table.end()) continue;
      Orphan& orphan = found->second;
      if (orphan.has_moved && !orphan.is_over && tries == kTriesOfMoved) {
        end(orphan, how_it_ended(orphan));
      }
      orphan.tries = static_cast<std::uint8_t>(orphan.is_over ? kLast : tries + 1);
      due_[orphan.tries].push_back({now + kPatience[orphan.tries], key});
      if (orphan.is_over) continue;
      if (const std::size_t size = ask(key, orphan, out, now); size > 0) return size;
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
