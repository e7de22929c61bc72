#include "relay/gateway/lanes/session_events.h"

#include <algorithm>

#include "relay/gateway/peers/stream_context.h"
#include "relay/gateway/steering/flow_hash.h"

namespace satrelay::gateway {

bool SessionEvents::take(LaneId id, std::size_t packets, Instant now) {
  // Limit the events of one call: a packet may cause events of very many streams, and many packets
  // may have arrived.
  constexpr std::size_t kEventsPerPacket = 64;
  constexpr std::size_t kEventsPerCall = 512;
  const std::size_t most = std::min(kEventsPerPacket * packets, kEventsPerCall);
  std::size_t count = 0;
  while (count < most) {
    const auto event = parts_.lanes[id]->session.poll_event();
    if (!event) break;
    ++count;
    handle(id, *event, now);
  }
  return count > 0;
}

void SessionEvents::handle(LaneId id, const stp::Event& event, Instant now) {
  using Kind = stp::Event::Kind;
  Lane& lane = *parts_.lanes[id];
  switch (event.kind) {
    case Kind::kPeerAlive:
      lane.suspect_since = Instant::never();
      parts_.flows.epochs().look_at_all();
      break;
    case Kind::kPeerSuspect:
      lane.suspect_since = now;
      break;
    case Kind::kPeerRestarted:
      lane.suspect_since = now;
      parts_.flows.epochs().upset(id, PeerEpochLog::Kind::kRestarted);
      break;
    case Kind::kPeerClosed:
      parts_.flows.epochs().upset(id, PeerEpochLog::Kind::kClosed);
      break;
    case Kind::kCapacity:
      parts_.uplink.rates().handle_capacity(id, now);
      return;
    case Kind::kOpened:
      handle_opened(id, event.stream, now);
      return;
    case Kind::kReset:
      if (const FlowKey* key = parts_.flows.key_of(id, event)) {
        if (event.reason == stp::ResetReason::kOtherVlan) {
          parts_.door.records().split_vlans.note(*key, lane.address.peer, now);
        }
      }
      [[fallthrough]];
    case Kind::kReadable:
    case Kind::kWritable:
    case Kind::kConfirmed:
    case Kind::kDelivered:
      if (StreamContext(event.context).kind() == StreamContext::Kind::kMessages) {
        lane.control_messages.handle_event(event, parts_.orphans, now);
        if (const auto found = lane.control_messages.questions().take_found()) {
          parts_.door.refute({found->host, found->vlans}, now);
        }
      } else {
        parts_.flows.handle_event(id, event, now);
      }
      return;
  }
  // These events do not concern a single stream.
  lane.control_messages.handle_event(event, parts_.orphans, now);
  lane.dictionaries.update(parts_.uplink.classes(), lane.control_messages.peer_dictionaries());
}

// The answer is yes if the owner of the address is known, and a frame from the owner's MAC has
// arrived on this LAN lately. It is also yes if the operator has configured the address behind
// another peer. Otherwise the asking peer could conclude that the address is between the two
// gateways.
void SessionEvents::answer(LaneId id, const LanQuestions::Question& asked, Instant now) {
  const IpAddress& host = asked.address.host;
  const bool is_others = parts_.claims.is_behind_a_peer(host) &&
                         parts_.policy.peer_for(host) != parts_.lanes[id]->address.peer;
  const NamedMac* const owner = parts_.lan.owners().owner({host, asked.address.vlans});
  const bool is_here =
      is_others || (owner != nullptr && parts_.common->stations.was_heard(
                                            Side::kLan, {owner->mac, owner->vlans()}, now));
  parts_.lanes[id]->control_messages.questions().answer(
      asked, is_here ? LanQuestions::Answer::kHere : LanQuestions::Answer::kNotHere, now);
}

// The stream carries a message or a flow.
void SessionEvents::handle_opened(LaneId id, stp::StreamId stream, Instant now) {
  Lane& lane = *parts_.lanes[id];
  if (parts_.lan.is_routed(lane.address.peer)) {
    if (const auto router = parts_.wan.next_hop(lane.address.peer)) parts_.lan.set_router(*router);
  }
  if (!lane.control_messages.handle_opened(stream, now)) {
    parts_.flows.opening().handle_opened(id, stream, now);
    return;
  }
  if (const auto doubted = lane.control_messages.take_doubt())
    parts_.flows.servers().handle_doubt(id, *doubted, now);
  if (const auto told = lane.control_messages.take_evidence()) {
    if (lane.address.has_flow(flow_hash(told->near, told->far, told->near_port, told->far_port))) {
      parts_.door.handle_evidence(id, *told, now);
    } else {
      parts_.counters.add(Counter::kEvidenceRefused);
    }
  }
  if (const auto asked = lane.control_messages.questions().take()) answer(id, *asked, now);
  if (const auto told = lane.control_messages.destinations().take()) {
    parts_.flows.hear_destination(id, *told, now);
  }
  if (const auto told = lane.control_messages.arrivals().take())
    parts_.flows.moves().handle_arrival(id, *told, now);
  lane.dictionaries.update(parts_.uplink.classes(), lane.control_messages.peer_dictionaries());
}

}  // namespace satrelay::gateway
