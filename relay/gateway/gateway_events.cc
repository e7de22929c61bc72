// Handles the events of the sessions: one switch passes each event to the parts that it concerns.
#include <algorithm>

#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

void Gateway::Impl::take_events(LaneId id, std::size_t packets, Instant now) {
  // One packet may cause events of very many streams, and many packets may have arrived.
  constexpr std::size_t kEventsPerPacket = 64;
  constexpr std::size_t kEventsPerCall = 512;
  const std::size_t most = std::min(kEventsPerPacket * packets, kEventsPerCall);
  for (std::size_t i = 0; i < most; ++i) {
    const auto event = lanes[id]->session.poll_event();
    if (!event) break;
    uplink.interrupt();
    handle_event(id, *event, now);
  }
}

void Gateway::Impl::handle_event(LaneId id, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  Lane& lane = *lanes[id];
  switch (event.kind) {
    case Kind::kPeerAlive:
      lane.suspect_since = Instant::never();
      flows.epochs().look_at_all();
      break;
    case Kind::kPeerSuspect:
      lane.suspect_since = now;
      break;
    case Kind::kPeerRestarted:
      lane.suspect_since = now;
      flows.epochs().upset(id, PeerEpochLog::Kind::kRestarted);
      break;
    case Kind::kPeerClosed:
      flows.epochs().upset(id, PeerEpochLog::Kind::kClosed);
      break;
    case Kind::kCapacity:
      uplink.handle_capacity(id, now);
      return;
    case Kind::kOpened:
      handle_opened(id, event.stream, now);
      return;
    case Kind::kReset:
      if (const FlowKey* key = flows.key_of(id, event)) {
        if (event.reason == stp::ResetReason::kOtherVlan) {
          door.records().split_vlans.note(*key, lane.address.peer, now);
        }
      }
      [[fallthrough]];
    case Kind::kReadable:
    case Kind::kWritable:
    case Kind::kConfirmed:
    case Kind::kDelivered:
      if (StreamContext(event.context).kind() == StreamContext::Kind::kMessages) {
        lane.control_messages.handle_event(event, orphans, now);
        if (const auto found = lane.control_messages.questions().take_found()) {
          door.refute({found->host, found->vlans}, now);
        }
      } else {
        flows.handle_event(id, event, now);
      }
      return;
  }
  // Events that concern no single stream.
  lane.control_messages.handle_event(event, orphans, now);
  lane.dictionaries.update(uplink.classes(), lane.control_messages.peer_dictionaries());
}

// An address that the operator has put behind another peer counts as here, since the asking peer
// does not speak for it. A host that ARP has named counts as here while its MAC is heard on this
// LAN.
void Gateway::Impl::answer(LaneId id, const LanQuestions::Question& asked, Instant now) {
  const IpAddress& host = asked.address.host;
  const bool is_others =
      claims.is_behind_a_peer(host) && policy.peer_for(host) != lanes[id]->address.peer;
  const NamedMac* const owner = lan.owners().owner({host, asked.address.vlans});
  const bool is_here =
      is_others || (owner != nullptr &&
                    common->stations.was_heard(Side::kLan, {owner->mac, owner->vlans()}, now));
  lanes[id]->control_messages.questions().answer(
      asked, is_here ? LanQuestions::Answer::kHere : LanQuestions::Answer::kNotHere, now);
}

// The stream is a message or a flow.
void Gateway::Impl::handle_opened(LaneId id, stp::StreamId stream, Instant now) {
  Lane& lane = *lanes[id];
  if (lan.is_routed(lane.address.peer)) {
    if (const auto router = wan.next_hop(lane.address.peer)) lan.set_router(*router);
  }
  if (!lane.control_messages.handle_opened(stream, now)) {
    flows.opening().handle_opened(id, stream, now);
    return;
  }
  if (const auto doubted = lane.control_messages.take_doubt())
    flows.servers().handle_doubt(id, *doubted, now);
  if (const auto told = lane.control_messages.take_evidence()) {
    if (lane.address.has_flow(flow_hash(told->near, told->far, told->near_port, told->far_port))) {
      door.handle_evidence(id, *told, now);
    } else {
      counters.add(Counter::kEvidenceRefused);
    }
  }
  if (const auto asked = lane.control_messages.questions().take()) answer(id, *asked, now);
  if (const auto told = lane.control_messages.destinations().take()) {
    flows.hear_destination(id, *told, now);
  }
  if (const auto told = lane.control_messages.arrivals().take()) handle_arrival(id, *told, now);
  lane.dictionaries.update(uplink.classes(), lane.control_messages.peer_dictionaries());
}

}  // namespace satrelay::gateway
