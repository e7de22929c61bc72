#include "relay/gateway/flows/transfer/far_resets.h"

#include "relay/gateway/flows/deferred_reset.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/frames/path_error.h"

namespace satrelay::gateway {
namespace {

Counter counter_for(stp::ResetReason reason) {
  switch (reason) {
    case stp::ResetReason::kRefused:
      return Counter::kFlowsRefused;
    case stp::ResetReason::kUnreachable:
    case stp::ResetReason::kNoRoute:
      return Counter::kFlowsUnreachable;
    case stp::ResetReason::kInUse:
      return Counter::kFlowsInUse;
    case stp::ResetReason::kOtherVlan:
      return Counter::kFlowsOtherVlan;
    case stp::ResetReason::kTimeout:
      return Counter::kFlowsResetTimeout;
    case stp::ResetReason::kNoResources:
      return Counter::kFlowsResetNoResources;
    case stp::ResetReason::kProtocolError:
      return Counter::kFlowsResetProtocol;
    case stp::ResetReason::kShutdown:
      return Counter::kFlowsResetPeerClosed;
    default:
      return Counter::kFlowsResetByPeer;
  }
}

// Returns the reason of the reset. For an ICMP error, returns the reason that a peer without kIcmp
// would have sent. So this gateway handles the error in the same way, whether or not the peer
// supports kIcmp.
stp::ResetReason reason_of(const Flow& f, const stp::Event& event) {
  if (event.reason != stp::ResetReason::kIcmp) return event.reason;
  const auto kind = path_error(f.key.local.version(), {event.icmp.type, event.icmp.code});
  if (kind == tcp::PathError::kHard) return stp::ResetReason::kRefused;
  return event.icmp.sender ? stp::ResetReason::kNoRoute : stp::ResetReason::kUnreachable;
}

}  // namespace

void FarResets::handle(Flow& f, const stp::Event& event, Instant now) {
  const stp::ResetReason reason = reason_of(f, event);
  findings_.note_reset(f, reason, event, now);
  const bool has_moved = take_in_arrived(f, reason, now);
  parts_.streams.reset(f, stp::ResetReason::kNone, now);
  ending_.count(f, has_moved ? Counter::kFlowsResetMoved : counter_for(reason));
  if (reason == stp::ResetReason::kHostReset && has_queued(f)) {
    resets_.begin_to_host(f, now);
  } else if (event.reason == stp::ResetReason::kIcmp && tell_host(f, event.icmp)) {
    f.endpoint.abandon();
  } else {
    ending_.abort_or_abandon(f, reason, now);
  }
}

// The peer has ended the flow of a far host that has moved to this LAN and answered here. That host
// still has the connection open. So the gateway sends it a SYN to learn its sequence number, and
// then resets it. The frames to both hosts have the gateway's own MAC as source: both hosts are on
// this LAN, and its switches must not learn that the MAC of either host is at the gateway's port.
// Returns false if the far host has not moved.
bool FarResets::take_in_arrived(Flow& f, stp::ResetReason reason, Instant now) {
  if (reason != stp::ResetReason::kTimeout || !f.state.is_established()) return false;
  const auto* const check = arrivals_.find({f.key.remote, f.key.vlans}, f.lan.to_host.source,
                                           parts_.peer_of(f.lane), now);
  if (check == nullptr || check->state != PresenceChecks::State::kHere) return false;
  const wire::EthernetHeader to_far_host = arrivals_.towards(*check);
  f.lan.to_host.source = to_far_host.source;
  orphans_.take_in({f.key.remote, f.key.local, f.key.remote_port, f.key.local_port, f.key.vlans},
                   to_far_host, now);
  return true;
}

// If the client waits for the far host, the client gets the ICMP error itself, and decides as it
// would over a bridge. The source address of the error is its original sender, if the operator has
// configured that address behind the peer. Otherwise the source address is the server's, as a peer
// may not send errors in the name of any other address. Returns false if the client does not wait,
// or if the error does not end connect().
bool FarResets::tell_host(const Flow& f, const stp::IcmpRefusal& refusal) {
  const IcmpCode code{refusal.type, refusal.code};
  if (!waits_for_server(f) || !path_error(f.key.local.version(), code)) return false;
  if (parts_.flowless.failed_syns.full()) {
    parts_.counters.add(Counter::kIcmpToClientsUnsent);
    return false;
  }
  const bool is_the_peers = refusal.sender && refusal.sender->version() == f.key.local.version() &&
                            claims_.allow(parts_.peer_of(f.lane), *refusal.sender, f.key.local);
  const OpenMetadata metadata = f.metadata();
  parts_.flowless.failed_syns.push({.to_host = f.lan.to_host,
                                    .sender = is_the_peers ? *refusal.sender : f.key.remote,
                                    .code = code,
                                    .syn = {.key = f.key,
                                            .sequence = f.beginning.syn_sequence,
                                            .traffic_class = metadata.traffic_class,
                                            .hop_limit = metadata.hop_limit,
                                            .options = metadata.options}});
  parts_.counters.add(Counter::kIcmpToClients);
  return true;
}

}  // namespace satrelay::gateway
