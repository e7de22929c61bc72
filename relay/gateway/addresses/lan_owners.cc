#include "relay/gateway/addresses/lan_owners.h"

#include <utility>

#include "pep/base/bytes.h"
#include "relay/gateway/frames/flow_key.h"

namespace satrelay::gateway {

LanOwners::LanOwners(HashKey key) : key_(key), entries_(kEntries), by_owner_(kMacs) {}

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
  if (++claims_ == 0) ++claims_;
  entry.claim = claims_;
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
    entry = {.address = address,
             .owner = named,
             .candidate = {},
             .sender = {},
             .changed = {},
             .ask_again = {}};
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
  const bool is_new = entry.candidate.mac != mac;
  entry.candidate = named;
  if (entry.state == State::kAsked) return News::kNone;
  if (now < entry.ask_again) {
    if (is_new) change(entry, State::kDisputed, now);
    return News::kNone;
  }
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
                                                 Instant now) const {
  const Entry* entry = &entries_[place(address)];
  const bool is_its_own = holds(*entry, address);
  if (!is_its_own) entry = &entries_[by_owner_[place(used, address.vlans)]];
  const bool is_recent = (entry->state == State::kMoved || entry->state == State::kDisputed) &&
                         now < entry->changed + kKept;
  const bool is_candidate = used == entry->candidate.mac;
  const bool is_owner = used == entry->owner.mac;
  if (!is_its_own) {
    const bool is_its_router = entry->claim != 0 && entry->address.vlans == address.vlans &&
                               is_recent && (is_owner || is_candidate);
    if (!is_its_router) return std::nullopt;
  }
  if (!is_owner) {
    return Other{
        .mac = entry->owner.mac,
        .claim = entry->claim,
        .has_moved = is_its_own && is_candidate && is_recent && entry->state == State::kMoved};
  }
  if (entry->state != State::kDisputed || !is_recent) return std::nullopt;
  return Other{.mac = entry->candidate.mac, .claim = entry->claim};
}

}  // namespace satrelay::gateway
