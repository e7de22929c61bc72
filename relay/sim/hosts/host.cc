#include "relay/sim/hosts/host.h"

#include <algorithm>
#include <utility>

#include "relay/sim/network/fragments.h"

namespace satrelay::sim {
namespace {

constexpr std::size_t kBlockSize = 2048;

}  // namespace

std::size_t SocketPairHash::operator()(const SocketPair& pair) const {
  std::uint64_t h = (std::uint64_t{pair.local_port} << 16) | pair.remote_port;
  for (std::size_t i = 0; i < 16; ++i) {
    h = h * 0x100000001B3U + pair.local.octets()[i] * 257U + pair.remote.octets()[i];
  }
  return h;
}

SimHost::SimHost(EventLoop& loop, FramePool& frames, Tracer& tracer, const HostSpec& spec)
    : loop_(&loop),
      frames_(&frames),
      tracer_(&tracer),
      spec_(spec),
      id_(loop.add(*this, spec.name)),
      random_(spec.seed),
      memory_(spec.memory, BigMemory::pages_for(spec.memory)),
      arena_(memory_.bytes(), kBlockSize),
      neighbours_(frames, spec.addresses),
      timers_(kMostConnections) {}

SimHost::~SimHost() {
  neighbours_.clear();
  for (const FrameHandle frame : inbox_) frames_->release(frame);
}

void SimHost::attach(FrameSink& lan, unsigned port) {
  lan_ = &lan;
  lan_port_ = port;
}

wire::EthernetHeader SimHost::ethernet_header(const IpAddress& remote) const {
  wire::EthernetHeader header;
  header.source = spec_.addresses.mac;
  header.type = remote.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  if (spec_.addresses.vlan) {
    header.tags[0] = *spec_.addresses.vlan;
    header.tag_count = 1;
  }
  return header;
}

std::uint32_t SimHost::new_connection(const SocketPair& pair, const Plan& plan, Outcome& outcome,
                                      Instant now) {
  if (free_slots_.empty()) {
    connections_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(connections_.size() - 1));
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  tcp::Config config = spec_.tcp;
  if (!pair.local.is_v4()) config.mss = static_cast<std::uint16_t>(config.mss - 20);
  config.initial_sequence = static_cast<std::uint32_t>(random_.next());
  // One connection in four starts close to the wrap of its sequence numbers.
  if (random_.chance(0.25)) config.initial_sequence |= 0xffff'0000U;
  config.timestamp_offset = static_cast<std::uint32_t>(random_.next());
  auto connection = std::make_unique<Connection>();
  connection->pair = pair;
  connection->endpoint = std::make_unique<tcp::Endpoint>(config, arena_);
  connection->application = std::make_unique<Application>(plan, outcome, now);
  connections_[slot] = std::move(connection);
  by_pair_[pair] = slot;
  return slot;
}

void SimHost::remove(std::uint32_t slot) {
  timers_.set(slot, Instant::never());
  by_pair_.erase(connections_[slot]->pair);
  connections_[slot].reset();
  free_slots_.push_back(slot);
}

void SimHost::mark(std::uint32_t slot) {
  if (connections_[slot]->dirty) return;
  connections_[slot]->dirty = true;
  dirty_.push_back(slot);
  loop_->wake(id_);
}

void SimHost::connect(const SocketPair& pair, const Plan& plan, Outcome& outcome) {
  if (vanished_) return;
  const Instant now = loop_->now();
  // Replace an old connection between the same addresses and ports. Some stacks let programs reuse
  // a port that early.
  if (const auto old = by_pair_.find(pair); old != by_pair_.end()) remove(old->second);
  const std::uint32_t slot = new_connection(pair, plan, outcome, now);
  wire::TcpOptions offer;
  offer.mss = static_cast<std::uint16_t>(spec_.tcp.mss - (pair.local.is_v4() ? 0 : 20));
  if (spec_.offer_window_scale) offer.window_scale = spec_.tcp.window_scale;
  offer.sack_permitted = spec_.offer_sack;
  if (spec_.offer_timestamps) offer.timestamps = wire::TcpTimestamps{};
  connections_[slot]->endpoint->connect(offer, now);
  mark(slot);
}

void SimHost::receive(FrameHandle frame) {
  inbox_.push_back(frame);
  loop_->wake(id_);
}

void SimHost::send_raw(ConstBytes frame) {
  if (lan_ != nullptr && !vanished_) lan_->receive(lan_port_, frames_->copy_of(frame));
}

void SimHost::limit_receiving(std::uint64_t receive_limit) {
  spec_.tcp.receive_limit = receive_limit;
  for (const auto& [pair, slot] : by_pair_) {
    connections_[slot]->endpoint->set_receive_limit(receive_limit);
  }
}

void SimHost::vanish() {
  vanished_ = true;
  neighbours_.clear();
  dirty_.clear();
  by_pair_.clear();
  free_slots_.clear();
  for (std::uint32_t slot = 0; slot < connections_.size(); ++slot) {
    timers_.set(slot, Instant::never());
  }
  connections_.clear();
}

void SimHost::run(Instant now) {
  std::vector<FrameHandle> inbox;
  inbox.swap(inbox_);
  for (const FrameHandle handle : inbox) {
    if (!vanished_) {
      const ConstBytes frame = frames_->bytes(handle);
      const auto ethernet = wire::parse_ethernet(frame);
      const bool own_vlan =
          ethernet &&
          (spec_.addresses.vlan ? ethernet->tag_count == 1 &&
                                      ethernet->tags[0].vlan_id() == spec_.addresses.vlan->vlan_id()
                                : ethernet->tag_count == 0);
      const bool mine = own_vlan && (ethernet->destination == spec_.addresses.mac ||
                                     ethernet->destination.is_multicast());
      if (mine && neighbours_.handle_frame(*ethernet, frame.subspan(ethernet->size()), now)) {
        // handle_frame() has answered the message, or has learned an address from it.
      } else if (const auto tcp = mine ? parse_tcp_frame(frame) : std::nullopt;
                 tcp && (tcp->ip.destination == spec_.addresses.v4 ||
                         tcp->ip.destination == spec_.addresses.v6)) {
        tracer_->frame(now, spec_.name, "in ", frame);
        handle_tcp(*tcp, now);
      } else if (on_other_) {
        on_other_(frame);
      }
    }
    frames_->release(handle);
  }
  if (vanished_) return;
  neighbours_.handle_timeout(now);
  while (timers_.next_deadline() <= now) {
    const std::uint32_t slot = timers_.next_slot();
    timers_.set(slot, Instant::never());
    Connection& connection = *connections_[slot];
    if (connection.endpoint->next_timeout() <= now) connection.endpoint->handle_timeout(now);
    mark(slot);
  }
  std::vector<std::uint32_t> dirty;
  dirty.swap(dirty_);
  for (const std::uint32_t slot : dirty) {
    if (connections_[slot] != nullptr && connections_[slot]->dirty) service(slot, now);
  }
  flush();
}

void SimHost::service(std::uint32_t slot, Instant now) {
  Connection& connection = *connections_[slot];
  connection.dirty = false;
  // Run twice: sending may free buffer space that the application waits for.
  for (int round = 0; round < 2; ++round) {
    connection.application->run(*connection.endpoint, now);
    while (const auto segment = connection.endpoint->poll_segment(now)) {
      send_segment(connection, *segment, now);
    }
  }
  if (connection.endpoint->is_closed() && connection.application->ended()) {
    remove(slot);
    return;
  }
  timers_.set(slot,
              earlier(connection.endpoint->next_timeout(), connection.application->next_timeout()));
}

void SimHost::handle_tcp(const TcpFrame& frame, Instant now) {
  const SocketPair pair{frame.ip.destination, frame.ip.source, frame.tcp.destination_port,
                        frame.tcp.source_port};
  const bool syn = frame.tcp.has(wire::TcpFlags::kSyn) && !frame.tcp.has(wire::TcpFlags::kAck);
  auto found = by_pair_.find(pair);
  if (found != by_pair_.end() && syn) {
    // RFC 9293 section 3.10.7.4 allows a new SYN to end TIME-WAIT early, and stacks do this in
    // practice.
    Connection& old = *connections_[found->second];
    if (old.endpoint->state() == tcp::State::kTimeWait && old.application->ended()) {
      remove(found->second);
      found = by_pair_.end();
    }
  }
  if (found == by_pair_.end()) {
    if (syn) {
      handle_syn(pair, frame, now);
    } else {
      answer_with_reset(pair, frame, now);
    }
    return;
  }
  connections_[found->second]->endpoint->handle_segment(frame.tcp, frame.payload, now);
  mark(found->second);
}

void SimHost::handle_syn(const SocketPair& pair, const TcpFrame& frame, Instant now) {
  const auto reception = listener_ ? listener_(pair) : std::nullopt;
  if (!reception) {
    answer_with_reset(pair, frame, now);
    return;
  }
  const std::uint32_t slot = new_connection(pair, reception->plan, *reception->outcome, now);
  connections_[slot]->endpoint->accept(frame.tcp, now);
  mark(slot);
}

void SimHost::answer_with_reset(const SocketPair& pair, const TcpFrame& frame, Instant now) {
  if (frame.tcp.has(wire::TcpFlags::kRst)) return;
  // RFC 9293 section 3.10.7.1 defines the sequence and acknowledgment numbers of the RST.
  wire::TcpHeader reset;
  reset.source_port = pair.local_port;
  reset.destination_port = pair.remote_port;
  reset.flags = wire::TcpFlags::kRst;
  if (frame.tcp.has(wire::TcpFlags::kAck)) {
    reset.sequence = frame.tcp.acknowledgment;
  } else {
    reset.flags |= wire::TcpFlags::kAck;
    reset.acknowledgment = frame.tcp.sequence + static_cast<std::uint32_t>(frame.payload.size()) +
                           (frame.tcp.has(wire::TcpFlags::kSyn) ? 1U : 0U) +
                           (frame.tcp.has(wire::TcpFlags::kFin) ? 1U : 0U);
  }
  wire::IpHeader ip;
  ip.source = pair.local;
  ip.destination = pair.remote;
  const FrameHandle handle = frames_->acquire();
  frames_->set_size(handle, write_tcp_frame(ethernet_header(pair.remote), ip, reset, 0,
                                            frames_->room(handle), [](MutableBytes) {}));
  tracer_->frame(now, spec_.name, "out", frames_->bytes(handle));
  neighbours_.send(handle, pair.remote, now);
}

void SimHost::send_segment(const Connection& connection, const tcp::SegmentToSend& segment,
                           Instant now) {
  wire::TcpHeader header = segment.header;
  header.source_port = connection.pair.local_port;
  header.destination_port = connection.pair.remote_port;
  wire::IpHeader ip;
  ip.source = connection.pair.local;
  ip.destination = connection.pair.remote;
  const FrameHandle handle = frames_->acquire();
  frames_->set_size(
      handle, write_tcp_frame(ethernet_header(connection.pair.remote), ip, header,
                              segment.payload_size, frames_->room(handle), [&](MutableBytes out) {
                                if (!out.empty())
                                  connection.endpoint->copy_payload(segment.payload_offset, out);
                              }));
  tracer_->frame(now, spec_.name, "out", frames_->bytes(handle));
  if (spec_.wrapping.any()) {
    send_wrapped(handle, connection.pair, header.has(wire::TcpFlags::kSyn), now);
    return;
  }
  neighbours_.send(handle, connection.pair.remote, now);
}

void SimHost::send_wrapped(FrameHandle frame, const SocketPair& pair, bool is_syn, Instant now) {
  const Wrapping& wrapping = spec_.wrapping;
  const ConstBytes plain = frames_->bytes(frame);
  std::vector<std::byte> segment(plain.begin(), plain.end());
  frames_->release(frame);
  if (wrapping.extension_header && !is_syn && !pair.local.is_v4()) {
    segment = with_extension_header(segment, *wrapping.extension_header);
  }
  std::vector<std::vector<std::byte>> parts;
  const std::size_t headers = wire::kEthernetHeaderSize +
                              (pair.local.is_v4() ? wire::kIpv4HeaderSize : wire::kIpv6HeaderSize);
  if (wrapping.fragment_size > 0 && segment.size() > headers + wrapping.fragment_size) {
    parts = fragments_of(
        segment, {.size = wrapping.fragment_size, .identification = next_identification_++});
    if (wrapping.order == Wrapping::Order::kLastToFirst) std::ranges::reverse(parts);
  } else {
    parts.push_back(std::move(segment));
  }
  for (const std::vector<std::byte>& part : parts) {
    neighbours_.send(frames_->copy_of(part), pair.remote, now);
  }
}

void SimHost::flush() {
  while (const auto frame = neighbours_.poll()) {
    if (lan_ != nullptr) {
      lan_->receive(lan_port_, *frame);
    } else {
      frames_->release(*frame);
    }
  }
}

Instant SimHost::next_timeout() const {
  if (vanished_) return Instant::never();
  if (!inbox_.empty() || !dirty_.empty()) return loop_->now();
  return earlier(timers_.next_deadline(), neighbours_.next_timeout());
}

}  // namespace satrelay::sim
