// Every reason for which the gateway bridges, refuses, resets or drops has a name and a monotonic
// counter. The names are those of the stats socket and of docs/statistics.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace satrelay::gateway {

enum class Counter : std::uint8_t {
  // Frames
  kLanFramesIn,
  kLanFramesOut,
  kWanFramesIn,
  kWanFramesOut,
  kHeldFrames,            // bridged from the LAN, and waited for their turn on the carrier
  kDatagramsReassembled,  // from fragments of the LAN, to be judged as one
  // Bridged, by reason (frames)
  kBridgedNotIp,
  kBridgedNotTcp,
  kBridgedFragment,
  kBridgedIpOptions,
  kBridgedIpExtension,
  kBridgedMalformed,
  kBridgedByRule,
  kBridgedNoPeerPrefix,
  kBridgedPeerDown,
  kBridgedBypass,      // on the operator's command
  kBridgedDraining,    // the same, until this gateway stops
  kBridgedPeerBypass,  // the peer takes no new flows
  kBridgedTableFull,
  kBridgedHalfOpenFull,
  kBridgedMemoryLow,
  kBridgedTcpOptions,
  kBridgedMidStream,
  kBridgedFromWan,
  kBridgedMulticast,
  kBridgedOwnSegment,     // towards a host of the gateway's own subnet, or a link-local one
  kBridgedAsymmetric,     // only one direction crosses this gateway
  kBridgedForeignSource,  // from the LAN, in the name of a host that is behind a peer
  // Dropped (frames)
  kDroppedRelayedFromWan,
  kDroppedBadChecksum,
  kDroppedUnfinishedChecksum,
  kDroppedIcmpForRelayed,
  kDroppedFragmentOfRelayed,  // from the WAN, the first one
  // Of datagrams from the LAN that cannot be put together
  kDroppedFragmentOverlap,    // with what it overlaps, and all else of the datagram
  kDroppedFragmentDuplicate,  // had come before
  kDroppedFragmentMalformed,  // an offset or a length that cannot be
  kDroppedFragmentTooMany,    // of a datagram in more than 64
  kDroppedFragmentNoRoom,     // too many waited: the oldest gave way
  kDroppedFragmentTimeout,    // the rest did not come
  kDroppedStpUnknownPeer,
  kDroppedToGateway,
  kDroppedForgedGateway,  // from the LAN, in the name of a gateway
  kDroppedBridgedQueue,   // from the LAN, to be bridged: too many waited already
  kDroppedOrphaned,       // of a flow from before our restart: answered with RST
  kDroppedMemoryLow,      // payload of a segment that the arena had no room for
  kDroppedTooLong,        // to be bridged, and longer than the MTU of the other port
  kDroppedSynFlood,       // SYNs that came faster than their answers could leave
  kDroppedByRule,         // a rule says drop, or reset
  kDroppedAfterCookie,    // the ACK to a cookie, when there was no room or no peer for its flow
  kDroppedNoAnswer,       // of a host that was sent a SYN, of another connection: see kFlowsInUse
  kDroppedAfterEnd,       // of a relayed connection that is over: answered with RST
  // Flows
  kSynCookiesSent,     // SYNs answered without a flow, as limits.half_open was reached
  kFlowsAccepted,      // SYN from the LAN answered
  kFlowsBySynCookie,   // of these, from the ACK to a cookie
  kFlowsEstablished,   // its handshake completed and OPEN sent
  kFlowsFromPeer,      // OPEN received
  kFlowsOpenedByBoth,  // both hosts sent their SYN at once
  kFlowsFinished,      // both directions closed in order
  kFlowsHandshakeTimeout,
  kFlowsRefused,         // the far host answered with RST
  kFlowsRefusedByRule,   // that a peer opened: a rule here says drop, or reset
  kFlowsRefusedForeign,  // that a peer opened: not for a host behind it, or to no host
  kFlowsUnreachable,     // the far host did not answer
  kFlowsInUse,           // the far host has a connection with these addresses and ports
  kFlowsResetByHost,
  kFlowsResetByPeer,
  kFlowsResetPeerRestart,
  kFlowsResetPeerClosed,
  kFlowsResetPeerLost,  // silent for too long
  kFlowsResetTimeout,
  kFlowsResetIdle,
  kFlowsResetNoResources,
  kFlowsResetProtocol,
  kFlowsResetShutdown,
  kFlowsUnjournalled,  // no room to write them down
  // Flows from before a restart
  kFlowsListed,     // told to a peer that has restarted
  kFlowsOrphaned,   // after our restart: in our journal, or told by the peer
  kOrphansReset,    // their hosts were reset
  kOrphansGone,     // their hosts knew nothing of them any more
  kOrphansSilent,   // their hosts did not answer
  kOrphansRefused,  // told by a peer that they do not concern
  kMisfitsReset,    // bridged, with directions that did not fit each other
  // The gateway's own address
  kArpAnswered,
  kNeighbourAnswered,
  kPingAnswered,
  kAddressConflicts,  // frames of another machine that uses it
  kCount,
};

inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(Counter::kCount);

// snake_case, stable: "bridged_not_tcp".
std::string_view name(Counter counter);

class Counters {
 public:
  void add(Counter counter, std::uint64_t n = 1) {
    values_[static_cast<std::size_t>(counter)] += n;
  }
  std::uint64_t operator[](Counter counter) const {
    return values_[static_cast<std::size_t>(counter)];
  }

 private:
  std::array<std::uint64_t, kCounterCount> values_{};
};

}  // namespace satrelay::gateway
