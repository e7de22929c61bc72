// Finds out which addresses are between the two gateways: the web page of a modem, a router on the
// cable to the modem, and hosts in another VLAN of this LAN behind such a router (a router on a
// stick). An address is considered only if the longest prefix of a peer that contains it is a
// default prefix (length 0). The far gateway cannot reach such devices, so their connections are
// bridged.
//
// The only sign of such a device is its speed. An answer to an ARP request or a neighbour
// solicitation of this LAN is a hint if it arrives from the WAN in less than half the round trip of
// the path. A hint counts only for the address, never for the MAC that has answered: the router on
// the cable also forwards packets for far hosts. Any station on the path can forge an answer, and a
// router may answer for all addresses (proxy ARP). So the device itself must confirm the hint: it
// must answer a SYN equally fast, and acknowledge the sequence number of that SYN (SynTrials). If a
// hint is not confirmed, the address is void for kVoidFor.
//
// There is a second kind of hint: a station of this LAN claims the address in a VLAN other than the
// VLAN of the SYN. The device must confirm this hint in the same way.
//
// All workers share one object. Its tables have a fixed size and are indexed by a keyed hash. Hints
// are replaced first, then void addresses, and confirmed addresses last. So a flood of hints
// displaces neither void nor confirmed addresses. An answer to ARP never renews a confirmation,
// since any station can forge it.
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
  // The test is used only on paths with a longer round trip than this. On a shorter path, half a
  // round trip would be too close to the time that a busy host needs to answer.
  static constexpr Duration kShortestPath = Duration::milliseconds(100);
  // The lifetime of a hint. A confirmation also ends this long after the last quick answer to a
  // SYN. ARP caches ask again much sooner.
  static constexpr Duration kKept = Duration::seconds(3600);
  static constexpr Duration kVoidFor = Duration::seconds(300);
  // If a station asks for the same address again within this time, the request is a repeat. An
  // answer may belong to the first request or to any repeat.
  static constexpr Duration kRepeats = Duration::seconds(10);
  // The lifetime of an address that a station of this LAN has claimed. It is long, since a server
  // may be silent for long.
  static constexpr Duration kOwnKept = Duration::seconds(24 * 3600);
  static constexpr std::size_t kQuestions = 4096;
  static constexpr std::size_t kAddresses = 8192;

  enum class State : std::uint8_t { kUnknown, kHint, kConfirmed, kVoid };

  explicit BetweenGateways(HashKey key)
      : key_(key), asked_(kQuestions), known_(kAddresses), own_(kAddresses) {}

  // `asker`, a station of the LAN, has sent an ARP request or a neighbour solicitation for the
  // address.
  void note_question(const LanAddress& address, const MacAddress& asker, Instant now);
  // An answer to `asker` has arrived from the WAN. The answer is a hint if it arrived within the
  // time `within` after the request.
  void note_answer(const LanAddress& address, const MacAddress& asker, Duration within,
                   Instant now);
  // A station of the LAN claims the address.
  void note_own(const LanAddress& address, Instant now);
  State state(const LanAddress& address, Instant now) const;
  // The device has acknowledged the sequence number of a SYN in time. Returns true if the address
  // was not confirmed before.
  bool confirm(const LanAddress& address, Instant now);
  // The device has not answered in time, or the far LAN has the address. Returns true if the
  // address was not void before.
  bool refute(const LanAddress& address, Instant now);

 private:
  State found(const LanAddress& address, Instant now) const;
  bool is_in_another_vlan(const LanAddress& address, Instant now) const;
  void put(const LanAddress& address, State state, Instant now);

  HashKey key_;
  SharedTable asked_;  // the time of the first request, by address and asking station
  SharedTable known_;  // the state, and until when it is worth keeping
  // For each address that stations of the LAN have claimed: the time and the VLANs of the claims.
  SharedTable own_;
};

}  // namespace satrelay::gateway
