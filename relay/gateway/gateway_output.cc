// What leaves by each port, and when to ask for it.
#include <algorithm>

#include "relay/gateway/gateway_impl.h"

namespace satrelay::gateway {

Polled Gateway::poll_frame(PortId port, MutableBytes out, Instant now) {
  impl_->last_call = now;
  if (port == PortId::kLan) {
    std::size_t size = impl_->flows.poll_frame(out, now);
    if (size == 0) size = impl_->orphans.poll_frame(out, now);
    // A flood of SYNs takes what flows leave.
    if (size == 0) size = impl_->door.poll_cookie(out);
    if (size == 0) size = impl_->lan.poll_frame(out);
    if (size == 0) size = impl_->door.poll_reset(PortId::kLan, out);
    if (size == 0) return {};
    impl_->counters.add(Counter::kLanFramesOut);
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  const Polled polled = impl_->poll_wan(out, now);
  if (polled.kind != Polled::Kind::kNothing) impl_->counters.add(Counter::kWanFramesOut);
  return polled;
}

Instant Gateway::next_timeout() const {
  Instant next = earlier(impl_->wan.next_timeout(), impl_->flows.next_timeout());
  next = earlier(next, earlier(impl_->orphans.next_timeout(), impl_->door.next_timeout()));
  next = earlier(next, impl_->lan.next_timeout());
  next = earlier(next, impl_->reassembly.next_timeout());
  next = earlier(next, impl_->released.next_timeout());
  for (std::size_t i = 0; i < impl_->peers.size(); ++i) {
    const Peer& peer = *impl_->peers[i];
    if (peer.session.work_waits() || peer.session.has_events()) return impl_->last_call;
    if (impl_->is_reachable(i)) next = earlier(next, peer.session.next_timeout());
    next = earlier(next, peer.suspect_since + impl_->config.stp.give_up_after);
    next = earlier(next, peer.liaison.next_timeout());
  }
  return earlier(next, impl_->uplink.next_turn(impl_->last_call));
}

void PlainPackets::see(Way way, ConstBytes header, ConstBytes rest) {
  const std::size_t before = wan_.stp_header_size();
  frame_.resize(before + header.size() + rest.size());
  std::ranges::copy(header, frame_.begin() + static_cast<std::ptrdiff_t>(before));
  std::ranges::copy(rest, frame_.end() - static_cast<std::ptrdiff_t>(rest.size()));
  const LinkWay link_way = way == Way::kSent ? LinkWay::kSend : LinkWay::kReceive;
  wan_.write_stp_headers(peer_, header.size() + rest.size(), control::Priority{}, frame_, link_way);
  observer_.see_plain(link_way, frame_);
}

Gateway::Impl::Written Gateway::Impl::write_packet(std::size_t peer, const schedule::Turn& turn,
                                                   MutableBytes out, Instant now) {
  stp::Session& session = peers[peer]->session;
  const std::size_t header = wan.stp_header_size();
  const std::size_t size = session.poll_packet(out.subspan(header), now, turn);
  take_events(peer, now);
  if (size == 0) return {};
  wan.write_stp_headers(peer, size, session.last_priority(), out);
  return {.frame = header + size, .datagram = size};
}

Polled Gateway::Impl::poll_wan(MutableBytes out, Instant now) {
  if (const std::size_t size = released.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = wan.poll_frame(out); size > 0) {
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  if (const std::size_t size = door.poll_reset(PortId::kWan, out); size > 0) {
    uplink.pass(TrafficClasses::kBridged, size - wire::kEthernetHeaderSize, now);
    return {.kind = Polled::Kind::kWritten, .size = size};
  }
  return uplink.poll(out, now);
}

}  // namespace satrelay::gateway
