// What a hostile peer and a forging host may do, one by one, so that a failure names what it takes.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::sim {

// Of a peer with the right keys: all of it is well-formed but kGarbage.
enum class PeerTrick : std::uint8_t {
  kOpens,      // flows between any addresses, with any modes, or with metadata that is none
  kData,       // blocks and what is none: gaps, overlaps, contradictions, beyond credit and end
  kEarlyEnds,  // streams that end in mid-block
  kCredit,     // limits that are huge, tiny or fall
  kStarts,     // START_CREDIT, many to a packet
  kReports,    // of packets that were never sent, over any range; with excuses of its machine
  kResets,     // of streams that are there, are not yet, or never were
  kConfirms,   // any state of any host
  kRates,      // capacities, low and high
  kPings,      // PING and SETTLED of any number
  kMessages,   // between relays: admission, doubts, dictionaries, unheard-of ones
  kFlowLists,  // flows that it says there were
  kEpochs,     // begins anew, now and then with an older epoch
  kClose,
  kUnknown,    // frames of a later version
  kCodes,      // covered packets, repairs that give them back, and repairs of nothing
  kGarbage,    // malformed frames, other versions, wrong tags, numbers that jump or repeat
  kSilence,    // neither reports nor answers for a while
  kGreetings,  // HELLOs in the name of the honest peer, with rising epochs and with old ones
  kEnd,
};

// Of a host on the LAN that knows addresses and ports, but no sequence numbers.
enum class LanTrick : std::uint8_t {
  kResets,         // RST and FIN of flows that are there
  kData,           // segments of flows that are there
  kSyns,           // SYN and SYN-ACK, of flows that are there, will be or never are
  kMovedHosts,     // any segment of a flow under the forger's MAC
  kIcmp,           // errors about segments that were never sent
  kArp,            // claims of the gateways' addresses
  kNeighbours,     // the same in Neighbour Discovery
  kStp,            // HELLOs and packets as if of a gateway
  kFragments,      // and extension headers, before segments of flows that are there
  kOptions,        // of TCP, malformed and odd
  kDisorder,       // a flow of its own whose bytes come singly, in bit-reversed order
  kOverlaps,       // a flow of its own whose segments overlap and contradict each other
  kSelectiveAcks,  // a flow of its own with SACK blocks of what was never sent
  kFloods,         // SYNs from many addresses
  kGarbage,        // frames cut short, wrong checksums, unheard-of protocols
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
