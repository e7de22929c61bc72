// The tricks of hostile peers and of forging hosts. Each trick can be enabled separately, so that
// the report of a failure can list the tricks that it needs.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::sim {

// Tricks of a peer with the right keys. All frames are well-formed, except those of kGarbage.
enum class PeerTrick : std::uint8_t {
  kOpens,  // open flows between any addresses, with any modes, or with invalid metadata
  kData,   // send any blocks: with gaps, overlaps or contradictions, beyond the credit or the end
  kEarlyEnds,  // end streams within a block
  kCredit,     // grant huge or tiny credit, or reduce a limit
  kStarts,     // send many START_CREDIT frames in a packet
  // Report packets that were never sent, in any ranges. Some reports say that the terminal's
  // machine received packets late or dropped them (RECEPTION).
  kReports,
  kResets,    // reset streams that exist, do not exist yet, or never existed
  kConfirms,  // send CONFIRM frames with any state of a host
  kRates,     // send RATE frames with low and high capacities
  kPings,     // send PING and SETTLED frames with any number
  // Send messages between gateways: kAdmission, kDoubt, kDictionaries and unknown types.
  kMessages,
  kFlowLists,  // send invented lists of flows from before a restart
  kEpochs,     // start new sessions, sometimes with an older epoch
  kClose,
  kUnknown,  // send frame types of a later version
  kCodes,  // send covered packets, repairs that restore packets, and repairs of packets never sent
  // Send malformed frames, other versions, wrong tags, and packet numbers that jump or repeat.
  kGarbage,
  kSilence,    // send neither reports nor answers for some seconds
  kGreetings,  // send HELLOs in the name of the honest peer, with rising epochs and with old ones
  kEnd,
};

// Tricks of a host on the LAN. It knows addresses and ports, but no sequence numbers.
enum class LanTrick : std::uint8_t {
  kResets,         // RST and FIN for existing flows
  kData,           // data segments for existing flows
  kSyns,           // SYN and SYN-ACK for established flows, or from ports that no host uses
  kMovedHosts,     // segments of existing flows with the forger's MAC as the source
  kIcmp,           // errors about segments that were never sent
  kArp,            // ARP messages that claim a gateway's address
  kNeighbours,     // Neighbour Discovery messages that claim an IPv6 address that no node has
  kStp,            // HELLOs and packets in a gateway's name
  kFragments,      // fragments and extension headers, with segments of existing flows
  kOptions,        // malformed and unusual TCP options
  kDisorder,       // a flow of its own, sent byte by byte in bit-reversed order
  kOverlaps,       // a flow of its own, in segments that overlap and contradict each other
  kSelectiveAcks,  // a flow of its own with SACK blocks for bytes that were never sent
  kFloods,         // SYNs from many addresses
  kGarbage,        // truncated frames, wrong checksums, unknown protocols
  kEnd,
};

template <typename Trick>
constexpr std::uint32_t bit(Trick trick) {
  return std::uint32_t{1} << static_cast<unsigned>(trick);
}
template <typename Trick>
constexpr std::uint32_t every_trick() {
  return bit(Trick::kEnd) - 1;
}

std::string names_of_peer_tricks(std::uint32_t tricks);
std::string names_of_lan_tricks(std::uint32_t tricks);

}  // namespace satrelay::sim
