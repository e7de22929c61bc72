#include "tests/bench/world/bulk_host.h"

#include <algorithm>
#include <cstring>

#include "pep/base/random.h"
#include "pep/wire/checksum.h"

namespace satrelay::bench {
namespace {

constexpr std::uint16_t kFirstPort = BulkSender::kFirstPort;
constexpr std::uint16_t kServerPort = BulkSender::kServerPort;
constexpr std::size_t kContentBytes = 1 << 20;
constexpr std::uint8_t kScale = 8;
constexpr std::size_t kTcpHeader = 32;  // With timestamps.
constexpr std::size_t kTimestamps = 12;

using Flags = wire::TcpFlags;

struct Seen {
  wire::EthernetHeader ethernet;
  wire::IpHeader ip;
  wire::ParsedTcp tcp;
  std::size_t payload = 0;
};

std::optional<Seen> parse(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet) return std::nullopt;
  const ConstBytes packet = frame.subspan(ethernet->size());
  const auto ip = wire::parse_ip(packet);
  if (!ip || ip->protocol != wire::kProtocolTcp) return std::nullopt;
  const auto tcp = wire::parse_tcp(packet.subspan(ip->header_size, ip->payload_size));
  if (!tcp) return std::nullopt;
  return Seen{*ethernet, *ip, *tcp, ip->payload_size - tcp->header_size};
}

std::size_t write_frame(const HostAddresses& from, const HostAddresses& to, wire::TcpHeader& tcp,
                        ConstBytes payload, MutableBytes out) {
  wire::EthernetHeader ethernet;
  ethernet.source = from.mac;
  ethernet.destination = to.mac;
  ethernet.type = from.address.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  wire::write_ethernet(ethernet, out);
  wire::IpHeader ip;
  ip.source = from.address;
  ip.destination = to.address;
  ip.protocol = wire::kProtocolTcp;
  const std::size_t segment_size = wire::tcp_header_size(tcp) + payload.size();
  ip.payload_size = static_cast<std::uint16_t>(segment_size);
  const std::size_t at = ethernet.size() + wire::write_ip(ip, out.subspan(ethernet.size()));
  const MutableBytes segment = out.subspan(at, segment_size);
  const std::size_t header = wire::write_tcp(tcp, segment);
  if (!payload.empty()) std::memcpy(segment.data() + header, payload.data(), payload.size());
  store_u16(&segment[wire::kTcpChecksumOffset],
            wire::transport_checksum(ip.source, ip.destination, wire::kProtocolTcp, segment));
  return at + segment_size;
}

std::uint32_t stamp(Instant now) {
  return static_cast<std::uint32_t>(now.to_nanoseconds() / 1'000'000);
}

// The last three octets of an address count as its number.
constexpr std::size_t kNumberedOctets = 3;

std::size_t number_of(const IpAddress& address) {
  std::size_t number = 0;
  for (std::size_t i = address.size() - kNumberedOctets; i < address.size(); ++i) {
    number = number << 8U | address.octets()[i];
  }
  return number;
}

// The address that is `more` after `first`.
IpAddress address_after(const IpAddress& first, std::size_t more) {
  auto octets = first.octets();
  std::size_t number = number_of(first) + more;
  for (std::size_t i = 0; i < kNumberedOctets; ++i, number >>= 8U) {
    octets[first.size() - 1 - i] = static_cast<std::uint8_t>(number);
  }
  return first.is_v4() ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
                       : IpAddress::v6(octets);
}

std::size_t index_of(const IpAddress& first, const IpAddress& address, std::uint16_t port,
                     std::size_t of_a_host) {
  return (number_of(address) - number_of(first)) * of_a_host + port - kFirstPort;
}

}  // namespace

// --- sender ------------------------------------------------------------------------------------

BulkSender::BulkSender(const HostAddresses& own, const HostAddresses& far, const BulkFlows& flows)
    : own_(own),
      far_(far),
      of_a_host_(flows.of_a_host),
      payload_(flows.mtu - (own.address.is_v4() ? 20 : 40) - kTcpHeader),
      active_(flows.active),
      flows_(flows.count),
      content_(kContentBytes) {
  Random random(1);
  for (std::size_t i = 0; i < content_.size(); i += 8) {
    // One of 256 words, if the content is compressible.
    const std::uint64_t word = random.next() & (flows.compressible ? 0xff : ~std::uint64_t{0});
    std::memcpy(&content_[i], &word, sizeof word);
  }
}

void BulkSender::write(FrameBatch& out, Flow& flow, std::size_t index, std::uint8_t flags,
                       std::size_t payload, Instant now) {
  wire::TcpHeader tcp;
  tcp.source_port = static_cast<std::uint16_t>(kFirstPort + index % of_a_host_);
  tcp.destination_port = kServerPort;
  tcp.sequence = flow.next;
  tcp.flags = flags;
  tcp.window = 0xffff;
  tcp.options.timestamps = wire::TcpTimestamps{stamp(now), flow.echo};
  if ((flags & Flags::kSyn) != 0) {
    tcp.options.mss = static_cast<std::uint16_t>(payload_ + kTimestamps);
    tcp.options.window_scale = kScale;
    tcp.options.sack_permitted = true;
  } else {
    tcp.acknowledgment = flow.receive_next;
  }
  if (content_at_ + payload > content_.size()) content_at_ = 0;
  const ConstBytes content = ConstBytes(content_).subspan(content_at_, payload);
  content_at_ += payload;
  payload_bytes_ += payload;
  const HostAddresses own{own_.mac, address_after(own_.address, index / of_a_host_)};
  out.push(write_frame(own, far_, tcp, content, out.room()));
  const bool takes_one = (flags & (Flags::kSyn | Flags::kFin)) != 0;
  flow.next += static_cast<std::uint32_t>(payload) + (takes_one ? 1U : 0U);
}

void BulkSender::connect(FrameBatch& out, std::size_t count, Instant now) {
  for (; count > 0 && next_to_open_ < flows_.size() && !out.full(); --count) {
    const std::size_t index = next_to_open_++;
    flows_[index].state = State::kSynSent;
    write(out, flows_[index], index, Flags::kSyn, 0, now);
  }
}

void BulkSender::close(FrameBatch& out, std::size_t count, Instant now) {
  for (; count > 0 && next_to_close_ < flows_.size() && !out.full(); --count) {
    const std::size_t index = next_to_close_;
    if (flows_[index].state != State::kEstablished) return;
    ++next_to_close_;
    flows_[index].state = State::kFinSent;
    write(out, flows_[index], index, Flags::kFin | Flags::kAck, 0, now);
  }
}

void BulkSender::handle_frame(ConstBytes frame) {
  const auto seen = parse(frame);
  if (!seen) return;
  const wire::TcpHeader& tcp = seen->tcp.header;
  const std::size_t index =
      index_of(own_.address, seen->ip.destination, tcp.destination_port, of_a_host_);
  if (index >= flows_.size()) return;
  Flow& flow = flows_[index];
  if (tcp.options.timestamps) flow.echo = tcp.options.timestamps->value;
  if (tcp.has(Flags::kSyn)) {
    if (flow.state != State::kSynSent) return;
    flow.state = State::kEstablished;
    ++established_;
    flow.receive_next = tcp.sequence + 1;
    flow.acknowledged = tcp.acknowledgment;
    flow.scale = tcp.options.window_scale.value_or(0);
    flow.window = tcp.window;
    owed_.push_back(index);
    return;
  }
  if (tcp.has(Flags::kFin)) {
    if (flow.state == State::kFinSent) {
      flow.state = State::kClosed;
      flow.receive_next = tcp.sequence + 1;
      ++closed_;
    }
    owed_.push_back(index);
  }
  if (static_cast<std::int32_t>(tcp.acknowledgment - flow.acknowledged) < 0) return;
  flow.acknowledged = tcp.acknowledgment;
  flow.window = static_cast<std::uint32_t>(tcp.window) << flow.scale;
}

void BulkSender::acknowledge(FrameBatch& out, Instant now) {
  while (!owed_.empty() && !out.full()) {
    write(out, flows_[owed_.back()], owed_.back(), Flags::kAck, 0, now);
    owed_.pop_back();
  }
}

std::size_t BulkSender::send(FrameBatch& out, std::size_t count, Instant now) {
  std::size_t sent = 0;
  for (std::size_t looked = 0; looked < active_ && sent < count && !out.full(); ++looked) {
    const std::size_t index = turn_;
    turn_ = (turn_ + 1) % active_;
    Flow& flow = flows_[index];
    if (flow.state != State::kEstablished) continue;
    const std::size_t burst = active_ == 1 ? count : 2;
    for (std::size_t i = 0; i < burst && sent < count && !out.full(); ++i) {
      const std::uint32_t outstanding = flow.next - flow.acknowledged;
      if (outstanding + payload_ > flow.window) break;
      write(out, flow, index, Flags::kAck, payload_, now);
      ++sent;
    }
  }
  return sent;
}

// --- receiver ----------------------------------------------------------------------------------

BulkReceiver::BulkReceiver(const HostAddresses& own, const HostAddresses& far,
                           const BulkFlows& flows)
    : own_(own), far_(far), of_a_host_(flows.of_a_host), flows_(flows.count) {}

void BulkReceiver::handle_frame(ConstBytes frame, FrameBatch& out, Instant now) {
  const auto seen = parse(frame);
  if (!seen) return;
  const wire::TcpHeader& tcp = seen->tcp.header;
  const std::size_t index = index_of(far_.address, seen->ip.source, tcp.source_port, of_a_host_);
  if (index >= flows_.size()) return;
  Flow& flow = flows_[index];
  const bool syn = tcp.has(Flags::kSyn);
  const bool fin = tcp.has(Flags::kFin) && tcp.sequence == flow.next && seen->payload == 0;
  if (syn) {
    flow.next = tcp.sequence + 1;
  } else if (seen->payload > 0) {
    if (tcp.sequence == flow.next) {
      flow.next += static_cast<std::uint32_t>(seen->payload);
      payload_bytes_ += seen->payload;
      ++flow.unacknowledged;
    } else {
      ++out_of_order_;
      flow.unacknowledged = 2;
    }
  }
  if (fin) ++flow.next;
  if (!syn && !fin && flow.unacknowledged < 2) return;
  flow.unacknowledged = 0;
  wire::TcpHeader answer;
  answer.source_port = tcp.destination_port;
  answer.destination_port = tcp.source_port;
  answer.sequence = flow.own - (syn ? 1U : 0U);
  answer.acknowledgment = flow.next;
  answer.flags = fin ? Flags::kFin | Flags::kAck : Flags::kAck;
  answer.window = 0xffff;
  if (tcp.options.timestamps) {
    answer.options.timestamps = wire::TcpTimestamps{stamp(now), tcp.options.timestamps->value};
  }
  if (syn) {
    answer.flags |= Flags::kSyn;
    answer.options.mss = tcp.options.mss;
    answer.options.window_scale = kScale;
    answer.options.sack_permitted = tcp.options.sack_permitted;
  }
  const HostAddresses far{seen->ethernet.source, seen->ip.source};
  out.push(write_frame(own_, far, answer, {}, out.room()));
  if (fin) ++flow.own;
}

}  // namespace satrelay::bench
