#include "relay/gateway/addresses/between_gateways.h"

#include <algorithm>
#include <array>
#include <optional>

#include "relay/gateway/addresses/lan/lan_address_hash.h"
#include "relay/gateway/frames/coarse_time.h"

namespace satrelay::gateway {
namespace {

// A value of known_ has the state in its lowest two bits, and above them the second until which the
// entry is worth keeping. SharedTable replaces the entry with the smallest value. So it first
// replaces entries that expired long ago, then hints (there may be a flood of hints), and confirmed
// addresses last.
constexpr unsigned kStateBits = 2;

struct Terms {
  Duration kept, worth;
};
Terms terms_of(BetweenGateways::State state) {
  switch (state) {
    case BetweenGateways::State::kConfirmed:
      return {BetweenGateways::kKept, BetweenGateways::kKept};
    case BetweenGateways::State::kVoid:
      return {BetweenGateways::kVoidFor, BetweenGateways::kVoidFor};
    default:
      return {BetweenGateways::kKept, Duration::seconds(60)};
  }
}

std::uint32_t seconds_of(Duration duration) {
  return static_cast<std::uint32_t>(duration / Duration::seconds(1));
}

// With this tick, 32 bits wrap after two years. The difference of two times is still correct then.
constexpr Duration kTick = Duration::milliseconds(16);

std::uint32_t tick_of(Instant now) {
  const auto tick = static_cast<std::uint32_t>((now - Instant()) / kTick + 1);
  return tick == 0 ? 1 : tick;
}

// The longest time that may have passed since `tick`. The tick may be slightly in the future, as
// the clock of another worker may be ahead.
Duration since(std::uint32_t tick, Instant now) {
  constexpr std::uint32_t kAhead = 0xffff'ff00;
  const std::uint32_t passed = tick_of(now) - tick;
  return kTick * (passed >= kAhead ? 1 : std::int64_t{passed} + 1);
}

// An address that a station of this LAN claims has two entries, for two VLANs: a server may answer
// in the VLAN of its client, and still be reached in its own VLAN. The key of an entry is a hash of
// the address without VLANs, and of a number from kOwn, which distinguishes the two entries. The
// upper half of a value is the hour of the claim. The lower half has 16 bits computed from the
// VLANs. A few pairs of VLANs have the same bits.
constexpr std::array<std::uint32_t, 2> kOwn{1, 2};
std::uint32_t bits_of(const Vlans& vlans) {
  return static_cast<std::uint32_t>(vlans[0] ^ vlans[1] << 4) & 0xffff;
}
Duration age_of_own(std::uint32_t value, Instant now) {
  return Duration::seconds(3600) * ((hour_of(now) - (value >> 16)) & 0xffff);
}

}  // namespace

// If a station repeats its ARP request or solicitation, the time of the first one is kept. The
// answer to the first may still be in flight. Measured from the repeat, it would look like a quick
// answer.
void BetweenGateways::note_question(const LanAddress& address, const MacAddress& asker,
                                    Instant now) {
  const std::uint64_t number = hash_lan_address(key_, address, asker);
  const auto first = asked_.find(number);
  if (!first || since(*first, now) >= kRepeats) asked_.put(number, tick_of(now));
}

void BetweenGateways::note_answer(const LanAddress& address, const MacAddress& asker,
                                  Duration within, Instant now) {
  const auto asked = asked_.find(hash_lan_address(key_, address, asker));
  if (!asked || since(*asked, now) >= within) return;
  const State before = found(address, now);
  if (before == State::kUnknown || before == State::kHint) put(address, State::kHint, now);
}

// If the address is claimed in a third VLAN, the VLAN with the older claim is replaced.
void BetweenGateways::note_own(const LanAddress& address, Instant now) {
  const std::uint32_t value = hour_of(now) << 16 | bits_of(address.vlans);
  std::uint64_t oldest = 0;
  Duration age = Duration::zero();
  for (const std::uint32_t each : kOwn) {
    const std::uint64_t place = hash_lan_address(key_, {address.host, {}}, {}, each);
    const auto own = own_.find(place);
    if (!own || (*own & 0xffff) == (value & 0xffff)) {
      own_.put(place, value);
      return;
    }
    if (oldest != 0 && age_of_own(*own, now) <= age) continue;
    oldest = place;
    age = age_of_own(*own, now);
  }
  own_.put(oldest, value);
}

bool BetweenGateways::is_in_another_vlan(const LanAddress& address, Instant now) const {
  if (own_.is_unused()) return false;
  return std::ranges::any_of(kOwn, [&](std::uint32_t each) {
    const auto own = own_.find(hash_lan_address(key_, {address.host, {}}, {}, each));
    return own && (*own & 0xffff) != bits_of(address.vlans) && age_of_own(*own, now) < kOwnKept;
  });
}

BetweenGateways::State BetweenGateways::state(const LanAddress& address, Instant now) const {
  const State state = found(address, now);
  return state == State::kUnknown && is_in_another_vlan(address, now) ? State::kHint : state;
}

BetweenGateways::State BetweenGateways::found(const LanAddress& address, Instant now) const {
  if (known_.is_unused()) return State::kUnknown;
  const auto value = known_.find(hash_lan_address(key_, address));
  if (!value) return State::kUnknown;
  const auto state = static_cast<State>(*value & ((1U << kStateBits) - 1));
  const Terms terms = terms_of(state);
  const std::uint32_t since = (*value >> kStateBits) - seconds_of(terms.worth);
  return is_within(since, terms.kept, now) ? state : State::kUnknown;
}

bool BetweenGateways::confirm(const LanAddress& address, Instant now) {
  const State before = state(address, now);
  if (before != State::kHint && before != State::kConfirmed) return false;
  put(address, State::kConfirmed, now);
  return before != State::kConfirmed;
}

bool BetweenGateways::refute(const LanAddress& address, Instant now) {
  const State before = state(address, now);
  if (before == State::kVoid) return false;
  put(address, State::kVoid, now);
  return true;
}

void BetweenGateways::put(const LanAddress& address, State state, Instant now) {
  const std::uint32_t worth_until = second_of(now) + seconds_of(terms_of(state).worth);
  known_.put(hash_lan_address(key_, address),
             (worth_until << kStateBits) | static_cast<std::uint32_t>(state));
}

}  // namespace satrelay::gateway
