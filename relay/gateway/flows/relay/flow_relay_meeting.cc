// A host or the peer opens a 4-tuple that a flow in the table already has.
#include "relay/gateway/flows/relay/flow_relay.h"

namespace satrelay::gateway {

// Simultaneous open (RFC 9293 section 3.5): the hosts' SYNs have crossed on the link, and each
// gateway has answered its own host. Neither OPEN is more valid than the other, and both hosts may
// have sent data by now. So each direction keeps the stream that its own host's gateway has opened.
bool FlowRelay::meet(std::uint32_t slot, std::size_t peer, stp::StreamId stream,
                     const OpenMetadata& metadata, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  if (f.origin != Origin::kLan || f.peer != peer || f.inbound() || f.endpoint.is_closed() ||
      f.state.has_lost_stream() || f.modes.any() || metadata.modes.any()) {
    return false;
  }
  stp::Session& session = session_of(f);
  f.make_rare().marks_told = true;
  f.far_marks = {.traffic_class = static_cast<std::uint8_t>(metadata.traffic_class & 0xfcU),
                 .hop_limit = metadata.hop_limit};
  if (!f.state.has_stream()) {
    // Our stream is not opened yet, so the flow uses the peer's stream in both directions.
    f.stream = stream;
    f.state.open_stream();
    f.told_marks = PathMarks{.traffic_class = f.far_marks.traffic_class};
    if (f.state.is_established()) counters_.add(Counter::kFlowsEstablished);
  } else {
    // nullptr: the peer has already reset our stream.
    const Reassembler* const stored = session.received(f.stream);
    if (stored == nullptr || stored->highest() > 0 || session.received_end(f.stream)) return false;
    f.make_rare().inbound = stream;
  }
  streams_.adopt(slot, f, stream);
  counters_.add(Counter::kFlowsOpenedByBoth);
  advance(slot, now);
  return true;
}

bool FlowRelay::make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now) {
  catch_up(slot, now);
  resets_.cut_short(flow(slot), now);
  const Flow& f = flow(slot);
  if (!f.is_over()) return false;
  if (!f.endpoint.is_closed() && !f.endpoint.admits_new_incarnation(syn)) return false;
  remove(slot, now);
  return true;
}

// The peer opens a 4-tuple anew. Our TIME-WAIT, on the client's side, makes way. So does a flow
// that this peer opened: its client has begun again, and the RESET must have been lost.
void FlowRelay::supersede(std::uint32_t slot, std::size_t peer, Instant now) {
  catch_up(slot, now);
  Flow& f = flow(slot);
  resets_.cut_short(f, now);
  const bool same_client = f.origin == Origin::kPeer && f.peer == peer;
  if ((!f.is_over() && !same_client) || parts_.flowless.final_segments.full()) return;
  if (f.state.has_stream()) count_end(f, Counter::kFlowsResetByPeer);
  streams_.reset(f, stp::ResetReason::kNone, now);
  send_final_segment(f, now);
  remove(slot, now);
}

// Resets the host of the old flow. Otherwise the host would take segments of the new flow for a
// part of the old connection.
void FlowRelay::send_final_segment(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return;
  if (f.endpoint.state() != tcp::State::kTimeWait) f.endpoint.abort(now);
  while (const auto segment = f.endpoint.poll_segment(now)) {
    if (segment->header.has(wire::TcpFlags::kRst)) {
      parts_.flowless.final_segments.push(f.to_host, f.key, segment->header);
    }
  }
}

}  // namespace satrelay::gateway
