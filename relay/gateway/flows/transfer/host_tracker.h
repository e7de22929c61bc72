// Tracks where the host of each flow is on the LAN: chooses the MAC to which the flow's frames are
// sent. A host may send from one MAC and receive on another, for example behind a pair of routers.
// So the flow keeps its MAC as long as the host acknowledges frames to this MAC, whatever source
// MAC the host's frames have. At first a flow to a server uses the MAC to which the client has
// addressed its SYN. A flow to a client uses the MAC that has reached the client's address before,
// or the source MAC of the client's SYN.
//
// A host that does not acknowledge has moved, or never was at that MAC. Then the flow tries the MAC
// to which the far host addresses its frames (LearnedDestinations), the MACs that ARP and Neighbour
// Discovery claim (LanOwners), and the source MAC of the host's frames. After each attempt it
// returns to the MAC at which the host was last known to receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/wire/ethernet.h"
#include "relay/gateway/addresses/announced_destinations.h"
#include "relay/gateway/flows/flow.h"
#include "relay/gateway/flows/parts/relay_parts.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

class HostTracker {
 public:
  // `parts` must outlive this object.
  HostTracker(RelayParts& parts, HashKey secret) : parts_(parts), announced_destinations_(secret) {}

  // --- segments of the host --------------------------------------------------------------------
  // Evidence that an accepted segment gives about the MAC to which the flow sends.
  enum class MacObservation : std::uint8_t {
    kAcknowledges,  // the host acknowledges new bytes: frames to this MAC reach the host
    kBrings,        // the host sends new data
    kNone,
  };
  static bool is_elsewhere(const Flow& f, const Frame& frame) {
    return f.lan.seeks_host || frame.ethernet.reversed() != f.lan.to_host;
  }
  void follow_to(Flow& f, const wire::EthernetHeader& seen, MacObservation news, Instant now);
  // The host has repeated data that had already arrived. A single repeat means nothing. A host that
  // repeats data by its timer does not receive our acknowledgments.
  void note_repeat(Flow& f, Instant now);

  // --- a host that does not answer -------------------------------------------------------------
  // A retransmission is due, since the host has not acknowledged frames to the MAC in use. If the
  // flow is trying another MAC, it first returns to the known MAC, however many new claims there
  // are. So a claim that the host does not confirm costs the flow only one retransmission.
  void seek_host(Flow& f, Instant now);
  // The gateway may have asked the owner of the host's address, which has the MAC in use. If the
  // owner is silent, the flow uses the other MAC that claims the address.
  void follow_move(Flow& f, Instant now);

  // --- knowledge from elsewhere ----------------------------------------------------------------
  // The peer reports the MAC to which a far host addresses its frames for a host of this LAN.
  // `slot` is the flow that the report names; kNoSlot if there is no such flow.
  void hear_destination(LaneId lane, std::uint32_t slot, const LanDestination& told, Instant now);
  // The LAN has not shown yet how to reach the flow's host: asks for the host. The flow sends
  // nothing until hear() is called for its host.
  void ask(std::uint32_t slot, Instant now);
  // LanNeighbours has learned how to reach `host` on the LAN.
  void hear(const IpAddress& host, const wire::EthernetHeader& towards);
  void hear(const std::optional<LanNeighbours::Heard>& heard) {
    if (heard) hear(heard->host, heard->towards);
  }
  // Continues hear() for flows that an earlier call did not visit.
  void go_on(Instant now);

  // Writes the host's MAC into the journal.
  void write_down(Flow& f);

 private:
  void tell_destination(const Flow& f, const wire::EthernetHeader& seen, Instant now);
  void hear_elsewhere(Flow& f, const wire::EthernetHeader& seen, bool confirms, Instant now);
  bool goes_home(Flow& f, const MacAddress& sender);
  enum class Certainty : std::uint8_t { kSure, kLikely };
  void stay(Flow& f, const wire::EthernetHeader& seen, Certainty certainty);
  void hear_from(std::uint32_t slot, const IpAddress& host, const wire::EthernetHeader& towards);
  std::optional<LanOwners::Other> new_claim(const Flow& f, Instant now) const;
  void try_claimed(Flow& f, const LanOwners::Other& other);
  bool try_destination(Flow& f, Instant now);
  bool try_new(Flow& f, Instant now);
  bool try_again(Flow& f, Instant now);
  static void try_mac(Flow& f, const MacAddress& mac);
  static void send_to(Flow& f, const MacAddress& mac);

  RelayParts& parts_;
  AnnouncedDestinations announced_destinations_;
};

}  // namespace satrelay::gateway
