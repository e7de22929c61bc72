#include "pep/wire/encapsulation.h"

namespace satrelay::wire {
namespace {

constexpr std::size_t kPppoeHeaderSize = 6;
constexpr std::uint8_t kPppoeVersionAndType = 0x11;
constexpr std::uint8_t kPppoeSessionData = 0;
constexpr std::size_t kLabelSize = 4;
constexpr std::uint32_t kBottomOfStack = 0x100;
// Ethernet pads payloads that are shorter than this (IEEE 802.3 section 3.2.8).
constexpr std::size_t kLeastEthernetPayload = 46;

std::size_t size_of(const IpHeader& ip) { return std::size_t{ip.header_size} + ip.payload_size; }

}  // namespace

std::optional<PppoeFrame> parse_pppoe(ConstBytes payload) {
  if (payload.size() < kPppoeHeaderSize) return std::nullopt;
  const std::byte* p = payload.data();
  if (load_u8(p) != kPppoeVersionAndType || load_u8(p + 1) != kPppoeSessionData) {
    return std::nullopt;
  }
  const std::size_t length = load_u16(p + 4);
  if (length == 0 || length > payload.size() - kPppoeHeaderSize) return std::nullopt;
  const ConstBytes ppp = payload.subspan(kPppoeHeaderSize, length);
  PppoeFrame frame{.session = load_u16(p + 2)};
  // Only the last octet of a protocol number has its low bit set.
  const std::uint8_t first = load_u8(ppp.data());
  if ((first & 1U) != 0) {
    frame.protocol = first;
    frame.payload = ppp.subspan(1);
    return frame;
  }
  if (ppp.size() < 2) return std::nullopt;
  frame.protocol = load_u16(ppp.data());
  frame.payload = ppp.subspan(2);
  return frame;
}

std::optional<MplsFrame> parse_mpls(ConstBytes payload) {
  MplsFrame frame;
  while (frame.label_count < MplsFrame::kMostLabels && payload.size() >= kLabelSize &&
         !frame.has_bottom) {
    const std::uint32_t entry = load_u32(payload.data());
    frame.labels[frame.label_count++] = entry >> 12;
    frame.has_bottom = (entry & kBottomOfStack) != 0;
    payload = payload.subspan(kLabelSize);
  }
  if (frame.label_count == 0) return std::nullopt;
  frame.payload = payload;
  return frame;
}

std::optional<ConstBytes> ip_in_pppoe(ConstBytes payload) {
  const auto frame = parse_pppoe(payload);
  if (!frame || (frame->protocol != kPppIpv4 && frame->protocol != kPppIpv6)) return std::nullopt;
  const auto ip = parse_ip(frame->payload);
  if (!ip || ip->source.is_v4() != (frame->protocol == kPppIpv4)) return std::nullopt;
  return frame->payload.first(size_of(*ip));
}

// Data other than IPv6 may also begin with the version number 6, and an IPv6 header has no
// checksum. So an IPv6 packet is accepted only if it ends where the frame ends, or if the frame may
// be padded.
std::optional<ConstBytes> ip_in_mpls(ConstBytes payload) {
  const auto frame = parse_mpls(payload);
  if (!frame || !frame->has_bottom) return std::nullopt;
  const auto ip = parse_ip(frame->payload);
  if (!ip) return std::nullopt;
  const bool ends_the_frame =
      size_of(*ip) == frame->payload.size() || payload.size() <= kLeastEthernetPayload;
  if (!ip->source.is_v4() && !ends_the_frame) return std::nullopt;
  return frame->payload.first(size_of(*ip));
}

}  // namespace satrelay::wire
