#include "relay/gateway/opening/desync_detector.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "pep/wire/tcp.h"

namespace satrelay::gateway {
namespace {

using Flags = wire::TcpFlags;

// Interval between two probes of a host. A probe is an ACK outside of the window. A host answers at
// most two such ACKs a second (RFC 5961 section 7; in Linux for each connection).
constexpr Duration kAskAgain = Duration::milliseconds(600);
constexpr Duration kTellAgain = Duration::milliseconds(100);
// A probe's sequence number is this far above the number that the host expects. So it is outside of
// any window (RFC 7323 section 2.3: a window has at most 2^30 octets).
constexpr std::uint32_t kOutOfWindow = 0x6000'0000;

}  // namespace

// --- segments from both ports ------------------------------------------------------------------

void DesyncDetector::look_from_lan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                                   const SegmentNumbers& segment, std::optional<LaneId> lane,
                                   Instant now) {
  const FlowKey hosts = untagged(key);
  const std::uint64_t hash = hash_flow(secret_, hosts);
  Entry& entry = entries_[hash % kEntries];
  Case* const looked_into = cases_.empty() ? nullptr : find(hash);
  if ((segment.flags & (Flags::kSyn | Flags::kRst)) != 0) {
    // The connection begins or ends.
    if (looked_into != nullptr) close(*looked_into, now);
    if (entry.hash == hash) entry = Entry();
    return;
  }
  if ((segment.flags & Flags::kAck) == 0) return;
  if (entry.hash != hash) {
    entry = Entry();
    entry.hash = hash;
  }
  entry.word = {segment.sequence, segment.acknowledgment};
  if (looked_into != nullptr) {
    hear_host(*looked_into, entry.word, ethernet, now);
    return;
  }
  if (segment.payload == 0) return;
  // A lower sequence number than before: the host retransmits data that it had sent before the
  // latest data.
  const auto ahead = static_cast<std::int32_t>(segment.sequence - entry.data_sequence);
  if (entry.times_sent == 0 || ahead > 0) {
    entry.times_sent = 1;
  } else if (ahead < 0) {
    entry.times_sent = 2;
  } else if (entry.times_sent < kEnough) {
    ++entry.times_sent;
  }
  entry.data_sequence = segment.sequence;
  if (entry.times_sent < kEnough || now < entry.quiet_until || !lane) return;
  if (!session_peers_.is_alive(*lane) || !entry.to_host) return;
  entry.quiet_until = now + kQuiet;
  if (!session_peers_.understands_evidence(*lane) || !has_room_for(hosts.local)) {
    counters_.add(Counter::kMisfitsUntold);
    return;
  }
  Case opened;
  opened.hash = hash;
  opened.key = hosts;
  opened.to_host = *entry.to_host;
  opened.session_peer.lane = *lane;
  opened.word = entry.word;
  open(std::move(opened), now);
}

void DesyncDetector::look_from_wan(const FlowKey& key, const wire::EthernetHeader& ethernet,
                                   const SegmentNumbers& segment) {
  if ((segment.flags & (Flags::kSyn | Flags::kRst | Flags::kAck)) != Flags::kAck) return;
  const std::uint64_t hash = hash_flow(secret_, untagged(key));
  Entry& entry = entries_[hash % kEntries];
  if (entry.hash != hash) return;
  if (!ethernet.destination.is_multicast()) entry.to_host = ethernet;
  if (entry.times_sent == 0) return;
  if (is_within_reach(segment.acknowledgment, entry.data_sequence)) entry.times_sent = 1;
}

// --- evidence from the peer --------------------------------------------------------------------

FlowKey DesyncDetector::key_of(const HostEvidence& evidence) {
  return {evidence.far, evidence.near, evidence.far_port, evidence.near_port, {}};
}

bool DesyncDetector::has_room_for(const SessionPeer& session_peer) const {
  std::size_t all = 0;
  std::size_t of_one = 0;
  for (const Case& each : cases_) {
    if (!each.by_peer) continue;
    ++all;
    if (each.session_peer.peer == session_peer.peer) ++of_one;
  }
  return all < kMostTold && of_one < kMostToldByOne;
}

bool DesyncDetector::has_room_for(const IpAddress& host) const {
  std::size_t all = 0;
  std::size_t of_one = 0;
  for (const Case& each : cases_) {
    if (each.by_peer) continue;
    ++all;
    if (each.key.local == host) ++of_one;
  }
  return all < kMostOwn && of_one < kMostOfOneHost;
}

void DesyncDetector::hear(const SessionPeer& session_peer, const HostEvidence& evidence,
                          Instant now) {
  const FlowKey hosts = key_of(evidence);
  const std::uint64_t hash = hash_flow(secret_, hosts);
  const Word theirs{evidence.sends, evidence.expects};
  if (Case* const known = find(hash)) {
    if (known->session_peer.lane != session_peer.lane) {
      counters_.add(Counter::kEvidenceRefused);
      return;
    }
    known->theirs = theirs;
    if (go_on(*known, now)) close(*known, now);
    return;
  }
  Entry& entry = entries_[hash % kEntries];
  // The evidence is refused if the connection was not seen in both directions, if the gateway has
  // examined it lately, or if there is no room.
  if (entry.hash != hash || !entry.to_host || now < entry.quiet_until ||
      !has_room_for(session_peer)) {
    counters_.add(Counter::kEvidenceRefused);
    return;
  }
  entry.quiet_until = now + kQuiet;
  Case opened;
  opened.hash = hash;
  opened.key = hosts;
  opened.to_host = *entry.to_host;
  opened.session_peer = session_peer;
  opened.by_peer = true;
  opened.word = entry.word;
  opened.theirs = theirs;
  open(std::move(opened), now);
}

// --- cases: connections that the gateway examines ----------------------------------------------

bool DesyncDetector::agree(const Word& one, const Word& other) {
  return is_within_reach(one.sends, other.sends) && is_within_reach(one.expects, other.expects);
}

// Both directions must disagree. In one direction the numbers may also disagree because all
// acknowledgments were lost.
bool DesyncDetector::disagree(const Word& here, const Word& there) {
  return !is_within_reach(here.sends, there.expects) && !is_within_reach(here.expects, there.sends);
}

DesyncDetector::Case* DesyncDetector::find(std::uint64_t hash) {
  const auto found = std::ranges::find(cases_, hash, &Case::hash);
  return found != cases_.end() ? &*found : nullptr;
}

void DesyncDetector::open(Case opened, Instant now) {
  opened.asks_again = now + kAskAgain;
  opened.listens_until = now + kListening;
  opened.gives_up = now + kPatience;
  ask(opened);
  cases_.push_back(std::move(opened));
}

void DesyncDetector::ask(const Case& asked) {
  if (waiting_.full()) return;
  wire::TcpHeader question;
  question.sequence = asked.word.expects + kOutOfWindow;
  question.acknowledgment = asked.word.sends;
  question.flags = Flags::kAck;
  waiting_.push(asked.to_host, asked.key, question);
}

void DesyncDetector::hear_host(Case& heard, const Word& word, const wire::EthernetHeader& from_host,
                               Instant now) {
  if (from_host.source != heard.to_host.destination || !agree(word, heard.word)) {
    close(heard, now);
    return;
  }
  heard.word = word;
  heard.has_answered = true;
}

bool DesyncDetector::go_on(Case& looked_into, Instant now) {
  Case& c = looked_into;
  if (now >= c.gives_up) return true;
  if (now < c.listens_until) {
    if (now < c.asks_again) return false;
    ask(c);
    c.asks_again = c.listens_until;
    return false;
  }
  if (!c.has_answered || (c.theirs && !disagree(c.word, *c.theirs))) return true;
  if (!c.is_told) {
    const HostEvidence evidence{c.key.local,       c.key.remote, c.key.local_port,
                                c.key.remote_port, c.word.sends, c.word.expects};
    c.is_told = session_peers_.tell(c.session_peer.lane, evidence, now);
    if (c.is_told) counters_.add(Counter::kEvidenceTold);
    c.asks_again = c.is_told ? c.gives_up : now + kTellAgain;
  }
  return c.is_told && c.theirs;
}

// Resets the host if both its own numbers and the peer's evidence are known and disagree.
void DesyncDetector::close(Case& over, Instant now) {
  const bool proven = now >= over.listens_until && over.has_answered && over.is_told &&
                      over.theirs && disagree(over.word, *over.theirs);
  if (proven && !waiting_.full()) {
    waiting_.push_reset(over.to_host, over.key, over.word.expects);
    counters_.add(Counter::kMisfitsReset);
  } else {
    counters_.add(Counter::kMisfitsUnproved);
  }
  if (&over != &cases_.back()) over = std::move(cases_.back());
  cases_.pop_back();
}

void DesyncDetector::handle_timeout(Instant now) {
  for (std::size_t i = cases_.size(); i-- > 0;) {
    if (go_on(cases_[i], now)) close(cases_[i], now);
  }
}

Instant DesyncDetector::next_timeout() const {
  if (!waiting_.empty()) return Instant();
  Instant next = Instant::never();
  for (const Case& each : cases_) next = earlier(next, each.asks_again);
  return next;
}

}  // namespace satrelay::gateway
