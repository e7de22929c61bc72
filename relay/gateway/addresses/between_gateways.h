// Knows which addresses that only a peer for everything holds are reached between the two gateways:
// the page of a modem, a router on the cable to it, and hosts of another VLAN of this LAN behind
// such a router (a router on a stick). No far gateway reaches those, so their connections are
// bridged.
//
// The only sign of such a device is its speed. An answer to an ARP request or a neighbour
// solicitation of this LAN that comes from the WAN in less than half the round trip of the path is
// a hint. A hint counts for its address alone, never for the MAC that has answered: the router on
// the cable also forwards what is for far hosts. Anybody on the way can forge an answer, and a
// router may answer for all addresses (proxy ARP). So the device itself must confirm the hint, by
// an answer to a SYN that comes as soon and acknowledges the number of that SYN (SynTrials). A hint
// that nothing confirms is void for kVoidFor.
//
// The other hint is that a station of this LAN says that it has the address, in another VLAN than
// that of the SYN. It is confirmed in the same way.
//
// All workers share one. The number of places is fixed, and they are found by a keyed hash.
// Confirmed addresses give way last, and void ones before them, so that a flood of hints pushes out
// neither. An answer to ARP never renews a confirmation, as anybody forges it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/gateway/addresses/lan/lan_owners.h"
#include "relay/gateway/frames/keyed_hash.h"
#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {

class BetweenGateways {
 public:
  // On a shorter path, half a round trip is too near to what a busy host takes to answer.
  static constexpr Duration kShortestPath = Duration::milliseconds(100);
  // A hint, and a confirmation since a SYN was last answered soon. ARP caches ask well within it.
  static constexpr Duration kKept = Duration::seconds(3600);
  static constexpr Duration kVoidFor = Duration::seconds(300);
  // A station that asks again within this time repeats its question: the answer may be to any.
  static constexpr Duration kRepeats = Duration::seconds(10);
  // An address of this LAN: a server there may be silent for long.
  static constexpr Duration kOwnKept = Duration::seconds(24 * 3600);
  static constexpr std::size_t kQuestions = 4096;
  static constexpr std::size_t kAddresses = 8192;

  enum class State : std::uint8_t { kUnknown, kHint, kConfirmed, kVoid };

  explicit BetweenGateways(HashKey key)
      : key_(key), asked_(kQuestions), known_(kAddresses), own_(kAddresses) {}

  // `asker`, a station of the LAN, asks who has the address.
  void note_question(const LanAddress& address, const MacAddress& asker, Instant now);
  // An answer to `asker` comes from the WAN. It is a hint if it comes within that time.
  void note_answer(const LanAddress& address, const MacAddress& asker, Duration within,
                   Instant now);
  // A station of the LAN says that it has the address.
  void note_own(const LanAddress& address, Instant now);
  State state(const LanAddress& address, Instant now) const;
  // The device has acknowledged the number of a SYN in time. True: that is news.
  bool confirm(const LanAddress& address, Instant now);
  // It has not, or the far LAN has the address. True: that is news.
  bool refute(const LanAddress& address, Instant now);

 private:
  State found(const LanAddress& address, Instant now) const;
  bool is_in_another_vlan(const LanAddress& address, Instant now) const;
  void put(const LanAddress& address, State state, Instant now);

  HashKey key_;
  SharedTable asked_;  // of the time of a first question
  SharedTable known_;  // of the state and its time
  SharedTable own_;    // of when a station of the LAN said so, and in which VLANs
};

}  // namespace satrelay::gateway
