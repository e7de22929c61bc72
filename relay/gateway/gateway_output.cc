// Writes the frames that are sent on each port, and says when to ask for them.
#include <algorithm>

#include "relay/gateway/frames/bare_segment.h"
#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

Polled Gateway::poll_frame(PortId port, MutableBytes out, Instant now) {
  Polled polled;
  poll_frames(port, {&out, 1}, {&polled, 1}, now);
  return polled;
}

std::size_t Gateway::poll_frames(PortId port, std::span<const MutableBytes> rooms,
                                 std::span<Polled> polled, Instant now) {
  Impl& impl = engine_.unsettled();
  SATRELAY_CHECK(polled.size() == rooms.size());
  impl.begin_call(now);
  const bool is_lan = port == PortId::kLan;
  std::size_t count = is_lan ? impl.parts.flows.poll_frames(rooms, polled, now) : 0;
  std::size_t dropped = 0;
  while (count < rooms.size()) {
    std::size_t more = 1;
    if (is_lan) {
      polled[count] = impl.poll_lan_beside_flows(rooms[count], now);
    } else {
      more = impl.poll_wan(rooms.subspan(count), polled.subspan(count), now);
    }
    if (more == 0 || polled[count].kind == Polled::Kind::kNothing) break;
    dropped += polled[count].kind == Polled::Kind::kDropped ? 1 : 0;
    count += more;
    if (!is_lan) impl.rounds.let_few_rest(now);
  }
  impl.parts.counters.add(is_lan ? Counter::kLanFramesOut : Counter::kWanFramesOut,
                          count - dropped);
  if (!is_lan) impl.count_drops();
  if (!is_lan && count < rooms.size()) impl.rounds.let_rest(now);
  return count;
}

Instant Gateway::next_timeout() const {
  const Impl& impl = engine_.unsettled();
  if (!impl.deferred.is_empty()) return impl.last_call;
  Instant next = earlier(impl.parts.wan.next_timeout(), impl.parts.flows.next_timeout());
  next = earlier(next, earlier(impl.parts.orphans.next_timeout(), impl.parts.door.next_timeout()));
  next = earlier(next, impl.parts.lan.next_timeout());
  next = earlier(next, impl.parts.flows.moves().next_timeout());
  next = earlier(next, impl.next_own_frame());
  next = earlier(next, impl.parts.fragments.reassembly.next_timeout());
  next = earlier(next, impl.parts.fragments.released.next_timeout());
  const ReadySet<LaneId>& ready_set = impl.parts.uplink.ready_set();
  next = earlier(next, ready_set.next_deadline());
  ready_set.for_each(
      [&](LaneId id) { next = earlier(next, impl.rounds.next_timeout_of(id, impl.last_call)); });
  return earlier(next, impl.parts.uplink.next_turn(impl.last_call));
}

Gateway::Impl::Written Gateway::Impl::write_packets(LaneId lane, const schedule::Turn& turn,
                                                    std::span<const MutableBytes> rooms,
                                                    std::span<stp::PolledPacket> packets,
                                                    Instant now) {
  const std::size_t header = parts.wan.stp_header_size();
  stp::Session& session = parts.lanes[lane]->session;
  const std::size_t count = session.poll_packets(rooms, header, packets, now, turn);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_like_last = i > 0 && packets[i].size == packets[i - 1].size &&
                              packets[i].priority == packets[i - 1].priority;
    if (is_like_last) {
      parts.wan.repeat_stp_headers(rooms[i]);
    } else {
      parts.wan.write_stp_headers(parts.directory.lanes()[lane], packets[i].size,
                                  packets[i].priority, rooms[i]);
    }
  }
  return {.count = count, .frame_header = header, .had_events = events.take(lane, now)};
}

void Gateway::Impl::count_drops() {
  const Uplink::Drops drops = parts.uplink.take_drops();
  parts.counters.add(Counter::kDroppedBridgedQueue, drops.crowded);
  parts.counters.add(Counter::kDroppedBridgedLate, drops.late);
}

// The time at which the link has room for the first of the gateway's own frames for the WAN. The
// budget of these frames was already charged.
Instant Gateway::Impl::next_own_frame() const {
  if (const std::size_t size = parts.wan.next_frame_size(); size > 0)
    return parts.uplink.next_own(size);
  if (parts.door.reset_waits(PortId::kWan)) return parts.uplink.next_own(kMostBareSegment);
  return Instant::never();
}

// If the frame is sent in the name of a far host, gives it the DSCP and TTL of that host.
Polled Gateway::Impl::marked(std::size_t size, MutableBytes out, Instant now) const {
  parts.common->far_marks.mark(out.first(size), now);
  return written(size);
}

Polled Gateway::Impl::poll_lan_beside_flows(MutableBytes out, Instant now) {
  if (std::size_t size = parts.orphans.poll_frame(out, now); size > 0)
    return marked(size, out, now);
  // Cookies are sent after the frames of flows, so a flood of SYNs gets only the room that flows
  // leave.
  if (std::size_t size = parts.door.poll_cookie(out); size > 0) return marked(size, out, now);
  if (std::size_t size = parts.lan.poll_frame(out, now); size > 0) return written(size);
  if (std::size_t size = parts.flows.moves().poll_frame(out, now); size > 0) return written(size);
  return marked(parts.door.poll_reset(PortId::kLan, out), out, now);
}

std::size_t Gateway::Impl::poll_wan(std::span<const MutableBytes> rooms, std::span<Polled> polled,
                                    Instant now) {
  const MutableBytes out = rooms.front();
  std::size_t size = parts.fragments.released.poll_frame(out);
  if (size == 0 && next_own_frame() <= now) {
    size = parts.wan.poll_frame(out);
    if (size == 0) size = parts.door.poll_reset(PortId::kWan, out);
    if (size > 0) parts.uplink.book_own(size, now);
  }
  if (size == 0) return parts.uplink.poll(rooms, polled, now);
  polled.front() = written(size);
  return 1;
}

}  // namespace satrelay::gateway
