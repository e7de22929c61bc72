#include "relay/gateway/addresses/lan/lan_owners.h"

#include <utility>

#include "pep/base/bytes.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

LanOwners::LanOwners(HashKey key)
    : key_(key), entries_(kEntries), by_owner_(kMacs), moves_(kMacs) {}

std::size_t LanOwners::place(const LanAddress& address) const {
  FlowKey flow;
  flow.local = address.host;
  flow.vlans = address.vlans;
  return hash_flow(key_, flow) % kEntries;
}

std::size_t LanOwners::place(const MacAddress& mac, const Vlans& vlans) const {
  constexpr std::size_t kOctets = 6;
  std::array<std::byte, kOctets + 2 * wire::kMaxVlanTags> bytes;
  for (std::size_t i = 0; i < kOctets; ++i) bytes[i] = std::byte{mac.octets[i]};
  for (std::size_t i = 0; i < vlans.size(); ++i) store_u16(&bytes[kOctets + 2 * i], vlans[i]);
  return sip_hash(key_, bytes) % kMacs;
}

const NamedMac* LanOwners::owner(const LanAddress& address) const {
  const Entry& entry = entries_[place(address)];
  return holds(entry, address) ? &entry.owner : nullptr;
}

void LanOwners::change(Entry& entry, State state, Instant now) {
  entry.state = state;
  entry.changed = now;
  entry.claim = ++claims_;
  if (entry.latest.mac != MacAddress()) entry.latest_claim = ++claims_;
}

LanOwners::News LanOwners::hear(const LanAddress& address, const NamedMac& named, Claim claim,
                                Instant now) {
  const MacAddress& mac = named.mac;
  if (mac.is_multicast() || mac == MacAddress()) return News::kNone;
  const std::size_t at = place(address);
  Entry& entry = entries_[at];
  if (!holds(entry, address)) {
    const bool is_in_use =
        entry.claim != 0 && entry.state != State::kSettled && now < entry.changed + kKept;
    if (is_in_use || claim == Claim::kSends) return News::kNone;
    entry = Entry();
    entry.address = address;
    entry.owner = named;
    change(entry, State::kSettled, now);
    return News::kNone;
  }
  if (mac == entry.owner.mac) {
    if (entry.state != State::kAsked || claim == Claim::kSends) return News::kNone;
    change(entry, State::kDisputed, now);
    return News::kAnswered;
  }
  if (claim == Claim::kReplacesNone || (claim == Claim::kSends && mac == entry.sender)) {
    return News::kNone;
  }
  if (entry.state == State::kAsked || now < entry.ask_again) {
    if (mac == entry.candidate.mac || mac == entry.latest.mac) return News::kNone;
    entry.latest = named;
    entry.latest_claim = ++claims_;
    if (entry.state != State::kAsked) {
      entry.state = State::kDisputed;
      entry.changed = now;
    }
    return News::kNone;
  }
  entry.candidate = named;
  entry.latest = NamedMac();
  change(entry, State::kAsked, now);
  entry.ask_again = now + kInterval;
  by_owner_[place(entry.owner.mac, address.vlans)] = static_cast<std::uint16_t>(at);
  return News::kAskOwner;
}

void LanOwners::unanswered(const LanAddress& address, Instant now) {
  Entry& entry = entries_[place(address)];
  if (!holds(entry, address) || entry.state != State::kAsked) return;
  std::swap(entry.owner, entry.candidate);
  entry.sender = MacAddress();
  change(entry, State::kMoved, now);
  note_move(entry, now);
}

// If a router returns to its old MAC, its earlier move is cancelled.
void LanOwners::note_move(const Entry& entry, Instant now) {
  const Vlans& vlans = entry.address.vlans;
  Move& back = moves_[place(entry.owner.mac, vlans)];
  if (back.from == entry.owner.mac && back.vlans == vlans) back = Move();
  moves_[place(entry.candidate.mac, vlans)] = {.from = entry.candidate.mac,
                                               .to = entry.owner.mac,
                                               .vlans = vlans,
                                               .claim = entry.claim,
                                               .since = now};
}

void LanOwners::unasked(const LanAddress& address, Instant now) {
  Entry& entry = entries_[place(address)];
  if (holds(entry, address) && entry.state == State::kAsked) {
    change(entry, State::kDisputed, now);
  }
}

void LanOwners::note_receiver(const LanAddress& address, const MacAddress& sender,
                              const MacAddress& receiver) {
  Entry& entry = entries_[place(address)];
  if (!holds(entry, address)) return;
  if (receiver == entry.owner.mac && sender != receiver) {
    entry.sender = sender;
  } else if (entry.sender == sender) {
    entry.sender = MacAddress();
  }
}

MacAddress LanOwners::receiver(const LanAddress& address, const MacAddress& sender) const {
  const Entry& entry = entries_[place(address)];
  return holds(entry, address) && entry.sender == sender ? entry.owner.mac : sender;
}

std::optional<LanOwners::Other> LanOwners::other(const LanAddress& address, const MacAddress& used,
                                                 Instant now, std::uint64_t tried) const {
  const auto is_untried = [&](const std::optional<Other>& other) {
    return other && other->claim > tried && other->mac != used;
  };
  const auto is_recent = [&](const Entry& entry) {
    return (entry.state == State::kMoved || entry.state == State::kDisputed) &&
           now < entry.changed + kKept;
  };
  const Entry& own = entries_[place(address)];
  const bool is_its_own = holds(own, address);
  const Entry& entry = is_its_own ? own : entries_[by_owner_[place(used, address.vlans)]];
  const bool is_its_router = entry.claim != 0 && entry.address.vlans == address.vlans &&
                             is_recent(entry) &&
                             (used == entry.owner.mac || used == entry.candidate.mac);
  if (is_its_own || is_its_router) {
    auto other = other_of(entry, used, is_recent(entry));
    if (other && !is_its_own) other->has_moved = false;
    if (is_untried(other)) return other;
    const std::optional<Other> latest = Other{.mac = entry.latest.mac, .claim = entry.latest_claim};
    if (is_recent(entry) && entry.latest.mac != MacAddress() && is_untried(latest)) return latest;
  }
  if (is_its_own) return std::nullopt;
  const Move& move = moves_[place(used, address.vlans)];
  const bool is_known = move.claim != 0 && move.from == used && move.vlans == address.vlans &&
                        now < move.since + kMovesKept;
  const std::optional<Other> moved = Other{.mac = move.to, .claim = move.claim};
  return is_known && is_untried(moved) ? moved : std::nullopt;
}

// Returns the owner, if `used` is another MAC. Otherwise returns the candidate, if the owner
// disputes the candidate's claim.
std::optional<LanOwners::Other> LanOwners::other_of(const Entry& entry, const MacAddress& used,
                                                    bool is_recent) const {
  if (used != entry.owner.mac) {
    const bool has_moved = used == entry.candidate.mac && is_recent && entry.state == State::kMoved;
    return Other{.mac = entry.owner.mac, .claim = entry.claim, .has_moved = has_moved};
  }
  if (entry.state != State::kDisputed || !is_recent) return std::nullopt;
  return Other{.mac = entry.candidate.mac, .claim = entry.claim};
}

}  // namespace satrelay::gateway
