#include "relay/gateway/opening/connections_in_use.h"

#include <algorithm>
#include <span>
#include <utility>

namespace satrelay::gateway {
namespace {

using Flags = wire::TcpFlags;

}  // namespace

// A set of kWays entries has four connections on average.
ConnectionsInUse::ConnectionsInUse(HashKey key, Duration memory, std::size_t connections)
    : key_(key), memory_(memory), entries_(connections / 4 * kWays) {}

bool ConnectionsInUse::is_valid(const Entry& entry, Instant now) const {
  const bool host = now < entry.host_spoke + memory_;
  const bool far = now < entry.far_spoke + memory_;
  switch (entry.state) {
    case State::kFree:
      return false;
    case State::kFarSpoke:
      return far;
    case State::kHostSpoke:
    case State::kOver:
      return host;
    case State::kInUse:
      return host && far;
  }
  return false;
}

const ConnectionsInUse::Entry* ConnectionsInUse::find(std::uint64_t hash, Instant now) const {
  const auto set = std::span(entries_).subspan(set_of(hash), kWays);
  const auto found = std::ranges::find(set, hash, &Entry::hash);
  return found != set.end() && is_valid(*found, now) ? &*found : nullptr;
}

ConnectionsInUse::Entry* ConnectionsInUse::find(std::uint64_t hash, Instant now) {
  return const_cast<Entry*>(std::as_const(*this).find(hash, now));
}

ConnectionsInUse::Entry* ConnectionsInUse::place_for(std::uint64_t hash, State evidence,
                                                     Instant now) {
  if (Entry* const known = find(hash, now)) return known;
  const auto set = std::span(entries_).subspan(set_of(hash), kWays);
  const auto rank = [&](const Entry& entry) {
    const State state = is_valid(entry, now) ? entry.state : State::kFree;
    return std::pair(state, later(entry.host_spoke, entry.far_spoke));
  };
  // The expired entry of the same connection can be used again.
  const auto same = std::ranges::find(set, hash, &Entry::hash);
  Entry& place = same != set.end() ? *same : *std::ranges::min_element(set, {}, rank);
  if (rank(place).first > evidence) return nullptr;
  place = Entry{.hash = hash};
  return &place;
}

void ConnectionsInUse::look_for_end(Entry& entry, Instant now) {
  if (!entry.far_ends || entry.expected != entry.end) return;
  if (!entry.far_resets && !entry.host_ends) return;
  entry.state = State::kOver;
  entry.host_spoke = now;
  note_spoken(now);
}

void ConnectionsInUse::look_from_lan(const FlowKey& flow, const SegmentNumbers& segment,
                                     Instant now) {
  const std::uint64_t hash = hash_flow(key_, flow);
  if ((segment.flags & (Flags::kSyn | Flags::kRst)) != 0 || (segment.flags & Flags::kAck) == 0) {
    Entry* const entry = find(hash, now);
    if (entry == nullptr) return;
    if ((segment.flags & Flags::kRst) != 0) {
      if (entry->state != State::kInUse) return;
      entry->host_ends = true;
      look_for_end(*entry, now);
    } else if ((segment.flags & (Flags::kSyn | Flags::kFin)) == Flags::kSyn &&
               entry->state == State::kOver) {
      *entry = Entry();  // another connection begins
    }
    return;
  }
  Entry* const entry = place_for(hash, State::kHostSpoke, now);
  if (entry == nullptr || entry->state == State::kOver) return;
  if (entry->state == State::kInUse) {
    // A forger that sends in the host's name does not know the sequence numbers.
    if (!is_within_reach(segment.acknowledgment, entry->expected)) return;
  } else {
    const bool fits =
        now < entry->far_spoke + memory_ && is_within_reach(segment.acknowledgment, entry->said);
    entry->state = fits ? State::kInUse : State::kHostSpoke;
  }
  entry->expected = segment.acknowledgment;
  entry->host_spoke = now;
  note_spoken(now);
  if (entry->state != State::kInUse) return;
  if ((segment.flags & Flags::kFin) != 0) entry->host_ends = true;
  look_for_end(*entry, now);
}

void ConnectionsInUse::look_from_wan(const FlowKey& flow, const SegmentNumbers& segment,
                                     Instant now) {
  const std::uint64_t hash = hash_flow(key_, flow);
  const bool resets = (segment.flags & Flags::kRst) != 0;
  Entry* const entry = resets ? find(hash, now) : place_for(hash, State::kFarSpoke, now);
  if (entry == nullptr || entry->state == State::kOver) return;
  const bool host_spoke = entry->state == State::kInUse || entry->state == State::kHostSpoke;
  const bool fits = host_spoke && is_within_reach(segment.sequence, entry->expected);
  if (entry->state == State::kInUse && !fits) return;
  if (!resets) {
    if (!host_spoke) entry->state = State::kFarSpoke;
    if (fits) entry->state = State::kInUse;
    entry->said = segment.sequence;
    entry->far_spoke = now;
    note_spoken(now);
  }
  if (entry->state != State::kInUse || (!resets && (segment.flags & Flags::kFin) == 0)) return;
  entry->far_ends = true;
  entry->far_resets = resets;
  entry->end = segment.sequence + (resets ? 0 : segment.payload + 1);
  look_for_end(*entry, now);
}

bool ConnectionsInUse::has(const FlowKey& flow, Instant now) const {
  if (is_empty(now)) return false;
  const Entry* const entry = find(hash_flow(key_, flow), now);
  return entry != nullptr && entry->state == State::kInUse;
}

}  // namespace satrelay::gateway
