#include "tests/bench/bulk_host.h"

#include <algorithm>
#include <cstring>

#include "pep/base/random.h"
#include "pep/wire/checksum.h"

namespace satrelay::bench {
namespace {

constexpr std::uint16_t kFirstPort = 10'000;
constexpr std::uint16_t kServerPort = 80;
constexpr std::size_t kContentBytes = 1 << 20;
constexpr std::uint8_t kScale = 8;

using Flags = wire::TcpFlags;

struct Seen {
  wire::EthernetHeader ethernet;
  wire::IpHeader ip;
  wire::ParsedTcp tcp;
  std::size_t payload = 0;
};

std::optional<Seen> parse(ConstBytes frame) {
  const auto ethernet = wire::parse_ethernet(frame);
  if (!ethernet || ethernet->type != wire::EtherType::kIpv4) return std::nullopt;
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
  ethernet.type = wire::EtherType::kIpv4;
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

}  // namespace

// --- sender ------------------------------------------------------------------------------------

BulkSender::BulkSender(const HostAddresses& own, const HostAddresses& far, std::size_t flows)
    : own_(own), far_(far), flows_(flows), content_(kContentBytes) {
  Random random(1);
  for (std::size_t i = 0; i < content_.size(); i += 8) {
    const std::uint64_t word = random.next();
    std::memcpy(&content_[i], &word, sizeof word);
  }
}

void BulkSender::write(FrameBatch& out, Flow& flow, std::size_t index, std::uint8_t flags,
                       std::size_t payload, Instant now) {
  wire::TcpHeader tcp;
  tcp.source_port = static_cast<std::uint16_t>(kFirstPort + index);
  tcp.destination_port = kServerPort;
  tcp.sequence = flow.next;
  tcp.flags = flags;
  tcp.window = 0xffff;
  tcp.options.timestamps = wire::TcpTimestamps{stamp(now), flow.echo};
  if ((flags & Flags::kSyn) != 0) {
    tcp.options.mss = 1460;
    tcp.options.window_scale = kScale;
    tcp.options.sack_permitted = true;
  } else {
    tcp.acknowledgment = flow.receive_next;
  }
  if (content_at_ + payload > content_.size()) content_at_ = 0;
  const ConstBytes content = ConstBytes(content_).subspan(content_at_, payload);
  content_at_ += payload;
  payload_bytes_ += payload;
  out.push(write_frame(own_, far_, tcp, content, out.room()));
  flow.next += static_cast<std::uint32_t>(payload) + ((flags & Flags::kSyn) != 0 ? 1U : 0U);
}

void BulkSender::connect(FrameBatch& out, Instant now) {
  for (std::size_t i = 0; i < flows_.size() && !out.full(); ++i) {
    if (flows_[i].state != State::kClosed) continue;
    flows_[i].state = State::kSynSent;
    write(out, flows_[i], i, Flags::kSyn, 0, now);
  }
}

void BulkSender::handle_frame(ConstBytes frame) {
  const auto seen = parse(frame);
  if (!seen) return;
  const wire::TcpHeader& tcp = seen->tcp.header;
  const std::size_t index = static_cast<std::size_t>(tcp.destination_port - kFirstPort);
  if (index >= flows_.size()) return;
  Flow& flow = flows_[index];
  if (tcp.options.timestamps) flow.echo = tcp.options.timestamps->value;
  if (tcp.has(Flags::kSyn)) {
    if (flow.state == State::kEstablished) return;
    flow.state = State::kEstablished;
    ++established_;
    flow.receive_next = tcp.sequence + 1;
    flow.acknowledged = tcp.acknowledgment;
    flow.scale = tcp.options.window_scale.value_or(0);
    flow.window = tcp.window;
    flow.acknowledge = true;
    return;
  }
  if (static_cast<std::int32_t>(tcp.acknowledgment - flow.acknowledged) < 0) return;
  flow.acknowledged = tcp.acknowledgment;
  flow.window = static_cast<std::uint32_t>(tcp.window) << flow.scale;
}

std::size_t BulkSender::send(FrameBatch& out, std::size_t count, Instant now) {
  std::size_t sent = 0;
  for (std::size_t looked = 0; looked < flows_.size() && sent < count && !out.full(); ++looked) {
    const std::size_t index = turn_;
    turn_ = (turn_ + 1) % flows_.size();
    Flow& flow = flows_[index];
    if (flow.state != State::kEstablished) continue;
    if (flow.acknowledge) {
      flow.acknowledge = false;
      write(out, flow, index, Flags::kAck, 0, now);
    }
    const std::size_t burst = flows_.size() == 1 ? count : 2;
    for (std::size_t i = 0; i < burst && sent < count && !out.full(); ++i) {
      const std::uint32_t outstanding = flow.next - flow.acknowledged;
      if (outstanding + kPayload > flow.window) break;
      write(out, flow, index, Flags::kAck, kPayload, now);
      ++sent;
    }
  }
  return sent;
}

// --- receiver ----------------------------------------------------------------------------------

BulkReceiver::BulkReceiver(const HostAddresses& own, std::size_t flows)
    : own_(own), flows_(flows) {}

void BulkReceiver::handle_frame(ConstBytes frame, FrameBatch& out, Instant now) {
  const auto seen = parse(frame);
  if (!seen) return;
  const wire::TcpHeader& tcp = seen->tcp.header;
  const std::size_t index = static_cast<std::size_t>(tcp.source_port - kFirstPort);
  if (index >= flows_.size()) return;
  Flow& flow = flows_[index];
  const bool syn = tcp.has(Flags::kSyn);
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
  if (!syn && flow.unacknowledged < 2) return;
  flow.unacknowledged = 0;
  wire::TcpHeader answer;
  answer.source_port = tcp.destination_port;
  answer.destination_port = tcp.source_port;
  answer.sequence = flow.own - (syn ? 1U : 0U);
  answer.acknowledgment = flow.next;
  answer.flags = Flags::kAck;
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
}

}  // namespace satrelay::bench
