#include "relay/gateway/flows/opening/flow_reopening.h"

namespace satrelay::gateway {

bool FlowReopening::make_way(std::uint32_t slot, const wire::TcpHeader& syn, Instant now) {
  epochs_.catch_up(slot, now);
  resets_.cut_short(parts_.flows[slot], now);
  const Flow& f = parts_.flows[slot];
  if (!f.is_over()) return false;
  if (!f.endpoint.is_closed() && !f.endpoint.admits_new_incarnation(syn)) return false;
  ending_.remove(slot, now);
  return true;
}

// Simultaneous open (RFC 9293 section 3.5): the hosts' SYNs have crossed on the link, and each
// gateway has answered its own host. Neither OPEN has precedence, and both hosts may have sent data
// by now. So each direction uses the stream that was opened by the gateway of the sending host.
bool FlowReopening::meet(std::uint32_t slot, LaneId lane, stp::StreamId stream,
                         const OpenMetadata& metadata, Instant now) {
  epochs_.catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  if (f.origin != Origin::kLan || f.lane != lane || f.inbound() || f.endpoint.is_closed() ||
      f.state.has_lost_stream() || f.modes.any() || metadata.modes.any()) {
    return false;
  }
  stp::Session& session = parts_.session_of(f);
  f.make_rare().marks_told = true;
  f.marks.far = {.traffic_class = static_cast<std::uint8_t>(metadata.traffic_class & 0xfcU),
                 .hop_limit = metadata.hop_limit};
  if (!f.state.has_stream()) {
    // Our stream is not opened yet, so the flow uses the peer's stream in both directions.
    f.stream = stream;
    f.state.open_stream();
    f.marks.told = PathMarks{.traffic_class = f.marks.far.traffic_class};
    if (f.state.is_established()) parts_.counters.add(Counter::kFlowsEstablished);
  } else {
    // `stored` is nullptr if the peer has already reset our stream.
    const Reassembler* const stored = session.streams().received(f.stream);
    if (stored == nullptr || stored->highest() > 0 || session.streams().received_end(f.stream))
      return false;
    f.make_rare().inbound = stream;
  }
  parts_.streams.adopt(slot, f, stream);
  parts_.counters.add(Counter::kFlowsOpenedByBoth);
  transfer_.advance(slot, now);
  return true;
}

void FlowReopening::supersede(std::uint32_t slot, LaneId lane, Instant now) {
  epochs_.catch_up(slot, now);
  Flow& f = parts_.flows[slot];
  resets_.cut_short(f, now);
  const bool same_client = f.origin == Origin::kPeer && f.lane == lane;
  if ((!f.is_over() && !same_client) || parts_.flowless.final_segments.full()) return;
  if (f.state.has_stream()) ending_.count(f, Counter::kFlowsResetByPeer);
  parts_.streams.reset(f, stp::ResetReason::kNone, now);
  send_final_segment(f, now);
  ending_.remove(slot, now);
}

// Resets the host of the old flow. Otherwise the host would take segments of the new flow as part
// of the old connection.
void FlowReopening::send_final_segment(Flow& f, Instant now) {
  if (f.is_unconfirmed()) return;
  if (f.endpoint.state() != tcp::State::kTimeWait) f.endpoint.abort(now);
  while (const auto segment = f.endpoint.poll_segment(now)) {
    if (segment->header.has(wire::TcpFlags::kRst)) {
      parts_.flowless.final_segments.push(f.lan.to_host, f.key, segment->header);
    }
  }
}

}  // namespace satrelay::gateway
