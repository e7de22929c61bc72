// The tricks of hostile peers and of forging hosts. Each can be enabled by itself, so that a
// failure names the tricks that it needs.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::sim {

// Tricks of a peer with the right keys. All frames are well-formed, except those of kGarbage.
enum class PeerTrick : std::uint8_t {
  kOpens,      // flows between any addresses, with any modes, or with invalid metadata
  kData,       // any blocks: gaps, overlaps, contradictions, beyond credit and end
  kEarlyEnds,  // streams that end within a block
  kCredit,     // limits that are huge or tiny, or that fall
  kStarts,     // START_CREDIT, many to a packet
  kReports,    // reports on packets never sent, over any range; some blame the terminal's machine
  kResets,     // resets of streams that exist, do not exist yet, or never existed
  kConfirms,   // CONFIRM frames with any state of a host
  kRates,      // RATE frames with low and high capacities
  kPings,      // PING and SETTLED of any number
  kMessages,   // messages between gateways: admission, doubts, dictionaries, unknown ones
  kFlowLists,  // invented lists of flows from before a restart
  kEpochs,     // new sessions, sometimes with an older epoch
  kClose,
  kUnknown,    // frames of a later version
  kCodes,      // covered packets, repairs that restore packets, repairs of packets never sent
  kGarbage,    // malformed frames, other versions, wrong tags, numbers that jump or repeat
  kSilence,    // neither reports nor answers for some seconds
  kGreetings,  // HELLOs in the name of the honest peer, with rising epochs and with old ones
  kEnd,
};

// Tricks of a host on the LAN. It knows addresses and ports, but no sequence numbers.
enum class LanTrick : std::uint8_t {
  kResets,         // RST and FIN of existing flows
  kData,           // segments of existing flows
  kSyns,           // SYN and SYN-ACK, of established flows or from ports that no host uses
  kMovedHosts,     // segments of existing flows, from the forger's MAC
  kIcmp,           // errors about segments that were never sent
  kArp,            // ARP messages that claim a gateway's address
  kNeighbours,     // Neighbour Discovery: claims to an IPv6 address that no node has
  kStp,            // HELLOs and packets in a gateway's name
  kFragments,      // fragments and extension headers, with segments of existing flows
  kOptions,        // TCP options, malformed and odd
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
