// Writes the frames that leave by each port, and says when to ask for them.
#include <algorithm>

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
  impl.uplink.interrupt();
  const bool is_lan = port == PortId::kLan;
  std::size_t count = is_lan ? impl.flows.poll_frames(rooms, polled, now) : 0;
  std::size_t dropped = 0;
  while (count < rooms.size()) {
    if (!is_lan && impl.uplink.goes_on()) {
      const std::size_t run =
          impl.uplink.poll_run(rooms.subspan(count), polled.subspan(count), now);
      count += run;
      if (run > 0) continue;
    }
    polled[count] =
        is_lan ? impl.poll_lan_beside_flows(rooms[count], now) : impl.poll_wan(rooms[count], now);
    if (polled[count].kind == Polled::Kind::kNothing) break;
    dropped += polled[count].kind == Polled::Kind::kDropped ? 1 : 0;
    ++count;
    if (!is_lan) impl.let_few_rest(now);
  }
  impl.counters.add(is_lan ? Counter::kLanFramesOut : Counter::kWanFramesOut, count - dropped);
  if (!is_lan) impl.count_drops();
  if (!is_lan && count < rooms.size()) impl.let_lanes_rest(now);
  return count;
}

Instant Gateway::next_timeout() const {
  const Impl& impl = engine_.unsettled();
  if (!impl.deferred.is_empty()) return impl.last_call;
  Instant next = earlier(impl.wan.next_timeout(), impl.flows.next_timeout());
  next = earlier(next, earlier(impl.orphans.next_timeout(), impl.door.next_timeout()));
  next = earlier(next, impl.lan.next_timeout());
  next = earlier(next, earlier(impl.arrivals.next_timeout(), impl.departures.next_timeout()));
  next = earlier(next, impl.next_own_frame());
  next = earlier(next, impl.reassembly.next_timeout());
  next = earlier(next, impl.released.next_timeout());
  const ReadySet<LaneId>& ready_set = impl.uplink.ready_set();
  next = earlier(next, ready_set.next_deadline());
  ready_set.for_each([&](LaneId id) { next = earlier(next, impl.next_timeout_of(id)); });
  return earlier(next, impl.uplink.next_turn(impl.last_call));
}

Instant Gateway::Impl::next_timeout_of(LaneId id) const {
  const Lane& lane = *lanes[id];
  if (lane.session.work_waits() || lane.session.has_events()) return last_call;
  Instant next = earlier(silence_due(lane), lane.control_messages.next_timeout());
  if (is_reachable(id)) next = earlier(next, lane.session.next_timeout());
  return next;
}

// A lane without flows rests until a packet on it, an operator's command or its own timer wakes it.
// The lane of a peer that cannot be reached stays awake, since no event says when it can be
// reached.
void Gateway::Impl::let_lanes_rest(Instant now) {
  ReadySet<LaneId>& ready_set = uplink.ready_set();
  ready_set.for_each([&](LaneId id) {
    const Lane& lane = *lanes[id];
    if (lane.flows > 0 || !is_reachable(id) || lane.session.waiting() != 0) return;
    if (const Instant next = next_timeout_of(id); next > now) ready_set.rest(id, next);
  });
}

// A lane that is awake only because it has just sent its HELLO would keep the one sending lane from
// sending packets in runs.
void Gateway::Impl::let_few_rest(Instant now) {
  constexpr std::size_t kFew = 8;
  if (uplink.goes_on()) return;
  const std::size_t awake = uplink.ready_set().awake();
  if (awake > 1 && awake <= kFew) let_lanes_rest(now);
}

void PlainPackets::see(Way way, ConstBytes header, ConstBytes rest) {
  const std::size_t before = wan_.stp_header_size();
  frame_.resize(before + header.size() + rest.size());
  std::ranges::copy(header, frame_.begin() + static_cast<std::ptrdiff_t>(before));
  std::ranges::copy(rest, frame_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  const LinkWay link_way = way == Way::kSent ? LinkWay::kSend : LinkWay::kReceive;
  wan_.write_stp_headers(address_, header.size() + rest.size(), control::Priority{}, frame_,
                         link_way);
  observer_.see_plain(link_way, frame_);
}

Gateway::Impl::Written Gateway::Impl::write_packet(LaneId lane, const schedule::Turn& turn,
                                                   MutableBytes out, Instant now) {
  stp::Session& session = lanes[lane]->session;
  const std::size_t header = wan.stp_header_size();
  const std::size_t size = session.poll_packet(out.subspan(header), now, turn);
  take_events(lane, now);
  if (size == 0) return {};
  wan.write_stp_headers(lane_addresses[lane], size, session.last_priority(), out);
  return {.frame = header + size, .datagram = size};
}

Gateway::Impl::Run Gateway::Impl::write_run(LaneId lane, const schedule::Turn& turn,
                                            std::span<const MutableBytes> rooms,
                                            std::span<stp::RunPacket> packets, Instant now) {
  stp::Session& session = lanes[lane]->session;
  const std::size_t header = wan.stp_header_size();
  const std::size_t count = session.poll_run(rooms, header, packets, now, turn);
  for (std::size_t i = 0; i < count; ++i) {
    const bool same = i > 0 && packets[i].size == packets[i - 1].size &&
                      packets[i].priority == packets[i - 1].priority;
    if (same) {
      wan.repeat_stp_headers(rooms[i]);
    } else {
      wan.write_stp_headers(lane_addresses[lane], packets[i].size, packets[i].priority, rooms[i]);
    }
  }
  take_events(lane, now);
  return {.count = count, .frame_header = header};
}

void Gateway::Impl::count_drops() {
  const Uplink::Drops drops = uplink.take_drops();
  counters.add(Counter::kDroppedBridgedQueue, drops.crowded);
  counters.add(Counter::kDroppedBridgedLate, drops.late);
}

// When the first of the gateway's own frames for the WAN finds room. Each of them has been taken
// from its budget already.
Instant Gateway::Impl::next_own_frame() const {
  if (const std::size_t size = wan.next_frame_size(); size > 0) return uplink.next_own(size);
  if (door.reset_waits(PortId::kWan)) return uplink.next_own(kMostResetSize);
  return Instant::never();
}

// For a frame in a far host's name: gives it the DSCP and TTL of that host.
Polled Gateway::Impl::marked(std::size_t size, MutableBytes out, Instant now) const {
  common->far_marks.mark(out.first(size), now);
  return written(size);
}

Polled Gateway::Impl::poll_lan_beside_flows(MutableBytes out, Instant now) {
  if (std::size_t size = orphans.poll_frame(out, now); size > 0) return marked(size, out, now);
  // Cookies leave after the frames of flows, so a flood of SYNs gets only the room that flows
  // leave.
  if (std::size_t size = door.poll_cookie(out); size > 0) return marked(size, out, now);
  if (std::size_t size = lan.poll_frame(out, now); size > 0) return written(size);
  if (std::size_t size = arrivals.poll_frame(out, now); size > 0) return written(size);
  if (std::size_t size = departures.poll_frame(out, now); size > 0) return written(size);
  return marked(door.poll_reset(PortId::kLan, out), out, now);
}

Polled Gateway::Impl::poll_wan(MutableBytes out, Instant now) {
  if (uplink.goes_on()) return uplink.poll(out, now);
  if (const std::size_t size = released.poll_frame(out); size > 0) return written(size);
  if (next_own_frame() <= now) {
    std::size_t size = wan.poll_frame(out);
    if (size == 0) size = door.poll_reset(PortId::kWan, out);
    if (size > 0) {
      uplink.book_own(size, now);
      return written(size);
    }
  }
  return uplink.poll(out, now);
}

}  // namespace satrelay::gateway
