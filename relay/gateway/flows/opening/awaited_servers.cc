#include "relay/gateway/flows/opening/awaited_servers.h"

namespace satrelay::gateway {
namespace {

// A SYN that was unanswered for this long has been sent at least twice.
constexpr Duration kDoubtAfter = Duration::seconds(1);

}  // namespace

// Handles a segment of the server that shows another connection with this 4-tuple: a bridged
// connection, or a connection that is older than the gateways. TCP demands an RST. But a forger may
// have sent the client's SYN, and the RST would end a connection of honest hosts. So the gateway
// drops the segment. The segment may be forged too, but then the real server answers the first SYN.
// So the gateway refuses the flow only after it has repeated the SYN. The client's gateway then
// bridges the next SYN, so that the two hosts themselves resolve the conflict.
bool AwaitedServers::handle_other_connection(std::uint32_t slot, const wire::TcpHeader& header,
                                             Instant now) {
  Flow& f = parts_.flows[slot];
  if (f.origin != Origin::kPeer || f.modes.handshake != config::HandshakeMode::kRemote ||
      !f.endpoint.shows_another_connection(header)) {
    return false;
  }
  parts_.counters.add(Counter::kDroppedNoAnswer);
  if (!f.endpoint.opening().has_repeated_syn()) return true;
  parts_.streams.reset(f, stp::ResetReason::kInUse, now);
  ending_.count(f, Counter::kFlowsInUse);
  f.endpoint.abandon();
  transfer_.advance(slot, now);
  return true;
}

// Networks in different VLANs may use the same addresses. But only a host that has received our SYN
// knows the SYN's sequence number. So an answer from another VLAN with this number is about this
// flow.
std::uint32_t AwaitedServers::find_in_other_vlan(const FlowKey& key,
                                                 const wire::TcpHeader& header) const {
  using Flags = wire::TcpFlags;
  if (!header.has(Flags::kAck) || (header.flags & (Flags::kSyn | Flags::kRst)) == 0) return kNoSlot;
  const std::uint32_t slot = asked_.find(key);
  if (slot == kNoSlot || !parts_.flows.contains(slot)) return kNoSlot;
  const Flow& f = parts_.flows[slot];
  const bool waits = f.origin == Origin::kPeer && f.state.has_stream() &&
                     f.endpoint.state() == tcp::State::kSynSent && !parts_.is_behind(f);
  const bool is_its =
      untagged(f.key) == untagged(key) && !f.endpoint.shows_another_connection(header);
  return waits && is_its ? slot : kNoSlot;
}

// Resets the server, in the VLAN in which it got the SYN.
void AwaitedServers::handle_other_vlan(std::uint32_t slot, const wire::TcpHeader& answer,
                                       Instant now) {
  Flow& f = parts_.flows[slot];
  if (answer.has(wire::TcpFlags::kRst)) {
    parts_.streams.reset(f, stp::ResetReason::kRefused, now);
    ending_.count(f, Counter::kFlowsRefused);
  } else {
    const bool is_understood = parts_.session_of(f).agreed().other_vlan();
    parts_.streams.reset(
        f, is_understood ? stp::ResetReason::kOtherVlan : stp::ResetReason::kNoRoute, now);
    ending_.count(f, Counter::kFlowsOtherVlan);
    if (!parts_.flowless.final_segments.full())
      parts_.flowless.final_segments.push_reset(f.lan.to_host, f.key, answer.acknowledgment);
  }
  f.endpoint.abandon();
  transfer_.advance(slot, now);
}

// The client behaves as if a second sender, besides this gateway, had answered it. That may be the
// server itself, if its answers to the far gateway's SYN take a path without the gateways. Only the
// far gateway knows whether it waits for such answers.
void AwaitedServers::doubt(Flow& f, Instant now) {
  f.handled.stray_answers = static_cast<std::uint16_t>(f.endpoint.questions().stray_answers());
  const bool far_host_spoke = f.bytes.to_lan > 0 || f.rare().far_window;
  if (f.origin != Origin::kLan || !f.state.has_stream() || far_host_spoke) return;
  parts_.lane_of(f).control_messages.doubt(f.stream, now);
}

void AwaitedServers::handle_doubt(LaneId lane, stp::StreamId stream, Instant now) {
  const std::uint32_t slot = epochs_.find_open(lane, stream, now);
  if (slot == kNoSlot) return;
  const Flow& f = parts_.flows[slot];
  const bool waits = f.endpoint.state() == tcp::State::kSynSent && !f.is_unconfirmed();
  if (!waits || now < f.beginning.created + kDoubtAfter) return;
  ending_.reset(slot, stp::ResetReason::kUnreachable, Counter::kFlowsUnreachable, now);
}

}  // namespace satrelay::gateway
