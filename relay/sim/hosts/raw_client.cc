#include "relay/sim/hosts/raw_client.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pep/wire/tcp.h"

namespace satrelay::sim {
namespace {

using wire::TcpFlags;

constexpr std::uint16_t kSegment = 1'000;  // most bytes of payload in a segment
constexpr std::size_t kMostFrame = 14 + 40 + wire::kMaxTcpHeaderSize + kSegment;
constexpr std::uint32_t kDisorderBits = 14;

std::uint32_t reversed(std::uint32_t value, std::uint32_t bits) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < bits; ++i) result |= (value >> i & 1U) << (bits - 1 - i);
  return result;
}

}  // namespace

RawClient::RawClient(const KnownFlow& flow, Manner manner, std::uint64_t seed, Send send)
    : flow_(flow),
      manner_(manner),
      random_(seed),
      send_(std::move(send)),
      initial_(static_cast<std::uint32_t>(random_.next())) {}

void RawClient::send(std::uint8_t flags, std::uint64_t offset, std::size_t size) {
  wire::EthernetHeader ethernet;
  ethernet.source = flow_.client.mac;
  ethernet.destination = flow_.server.mac;
  ethernet.type = flow_.client.address.is_v4() ? wire::EtherType::kIpv4 : wire::EtherType::kIpv6;
  wire::IpHeader ip;
  ip.source = flow_.client.address;
  ip.destination = flow_.server.address;
  wire::TcpHeader tcp;
  tcp.source_port = flow_.client_port;
  tcp.destination_port = flow_.server_port;
  tcp.flags = flags;
  tcp.sequence = initial_ + static_cast<std::uint32_t>(offset);
  if ((flags & TcpFlags::kAck) != 0) tcp.acknowledgment = acknowledgment_;
  tcp.window = 20'000;
  if ((flags & TcpFlags::kSyn) != 0) {
    tcp.options.mss = 1'460;
    tcp.options.window_scale = 7;
    tcp.options.sack_permitted = true;
  } else if (manner_ == Manner::kSelective) {
    tcp.options.sack_count = static_cast<std::uint8_t>(1 + random_.below(4));
    for (std::uint8_t i = 0; i < tcp.options.sack_count; ++i) {
      const auto begin = server_initial_ + static_cast<std::uint32_t>(random_.below(1 << 20));
      tcp.options.sack[i] = {begin, begin + static_cast<std::uint32_t>(1 + random_.below(3'000))};
    }
  }
  std::array<std::byte, kMostFrame> frame{};
  const std::size_t written =
      write_tcp_frame(ethernet, ip, tcp, size, frame, [this](MutableBytes out) {
        for (std::byte& octet : out) octet = static_cast<std::byte>(random_.next());
      });
  send_(ConstBytes(frame).first(written));
}

void RawClient::open() { send(TcpFlags::kSyn, 0, 0); }

bool RawClient::handle_frame(ConstBytes bytes) {
  const auto frame = parse_tcp_frame(bytes);
  if (!frame || frame->ip.destination != flow_.client.address ||
      frame->ip.source != flow_.server.address ||
      frame->tcp.destination_port != flow_.client_port) {
    return false;
  }
  const wire::TcpHeader& tcp = frame->tcp;
  if (tcp.has(TcpFlags::kRst)) {
    established_ = false;
    return true;
  }
  if (tcp.has(TcpFlags::kSyn) && tcp.has(TcpFlags::kAck)) {
    scale_ = tcp.options.window_scale.value_or(0);
    server_initial_ = tcp.sequence;
    acknowledgment_ = tcp.sequence + 1;
    established_ = true;
    send(TcpFlags::kAck, 1, 0);
  } else if (!frame->payload.empty() && tcp.sequence == acknowledgment_ &&
             manner_ != Manner::kSelective) {
    acknowledgment_ += static_cast<std::uint32_t>(frame->payload.size());
    send(TcpFlags::kAck, 1 + acknowledged_, 0);
  }
  if (tcp.has(TcpFlags::kAck)) {
    acknowledged_ = std::max<std::uint64_t>(acknowledged_, tcp.acknowledgment - initial_ - 1);
    window_ = std::uint64_t{tcp.window} << scale_;
  }
  return true;
}

void RawClient::step() {
  if (!established_) return;
  ++step_;
  const std::uint64_t window = std::max<std::uint64_t>(window_, 1);
  switch (manner_) {
    case Manner::kDisorder: {
      // Never send the byte that the server expects next. The server must then store all bytes out
      // of order.
      const std::uint64_t spread = std::max<std::uint64_t>(window >> kDisorderBits, 2);
      const std::uint64_t at = reversed(step_ % (1U << kDisorderBits), kDisorderBits) * spread;
      return send(TcpFlags::kAck, 2 + acknowledged_ + at % window, 1);
    }
    case Manner::kOverlaps:
      return send(TcpFlags::kAck | TcpFlags::kPsh, 1 + acknowledged_ + random_.below(window),
                  1 + random_.below(kSegment));
    case Manner::kSelective:
      return send(TcpFlags::kAck, 1 + acknowledged_, random_.below(2));
  }
}

void RawClient::leave() {
  if (established_) send(TcpFlags::kRst | TcpFlags::kAck, 1 + acknowledged_, 0);
  established_ = false;
}

}  // namespace satrelay::sim
