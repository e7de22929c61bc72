#include "pep/wire/icmp.h"

#include "pep/base/check.h"
#include "pep/wire/checksum.h"

namespace satrelay::wire {

namespace {

constexpr std::uint8_t kIcmpSourceQuench = 4;
// Lower types are errors (RFC 4443 section 2.1).
constexpr std::uint8_t kFirstInformationalV6 = 128;
// An error quotes at least this much of the transport header.
constexpr std::size_t kQuotedOctets = 8;

std::uint16_t icmp_checksum(const IpHeader& ip, ConstBytes message) {
  if (!ip.source.is_v4()) {
    return transport_checksum(ip.source, ip.destination, kProtocolIcmpV6, message);
  }
  return static_cast<std::uint16_t>(~checksum_sum(message));
}

IpAddress load_address(const std::byte* p, IpVersion version) {
  if (version == IpVersion::kV4) {
    std::array<std::uint8_t, 4> octets;
    std::memcpy(octets.data(), p, octets.size());
    return IpAddress::v4(octets);
  }
  std::array<std::uint8_t, 16> octets;
  std::memcpy(octets.data(), p, octets.size());
  return IpAddress::v6(octets);
}

// Parses the quoted header, and advances `quote` to the transport header. parse_ip() would reject
// the quoted header: its length field is the size of the whole packet, but only the beginning is
// quoted. Besides, its checksum may be outdated.
bool parse_quoted_v4(ConstBytes& quote, QuotedFlow& flow) {
  if (quote.size() < kIpv4HeaderSize) return false;
  const std::byte* p = quote.data();
  const std::size_t header_size = std::size_t{load_u8(p) & 0x0fU} * 4;
  const bool later_fragment = (load_u16(p + 6) & 0x1fffU) != 0;
  if (load_u8(p) >> 4 != 4 || header_size < kIpv4HeaderSize || header_size > quote.size() ||
      later_fragment) {
    return false;
  }
  flow.source = load_address(p + 12, IpVersion::kV4);
  flow.destination = load_address(p + 16, IpVersion::kV4);
  flow.protocol = load_u8(p + 9);
  quote = quote.subspan(header_size);
  return true;
}

bool parse_quoted_v6(ConstBytes& quote, QuotedFlow& flow) {
  constexpr std::uint8_t kFragmentHeader = 44;
  constexpr std::size_t kFragmentHeaderSize = 8;
  if (quote.size() < kIpv6HeaderSize) return false;
  const std::byte* p = quote.data();
  if (load_u8(p) >> 4 != 6) return false;
  flow.source = load_address(p + 8, IpVersion::kV6);
  flow.destination = load_address(p + 24, IpVersion::kV6);
  flow.protocol = load_u8(p + 6);
  quote = quote.subspan(kIpv6HeaderSize);
  if (flow.protocol == kFragmentHeader) {
    if (quote.size() < kFragmentHeaderSize) return false;
    const bool later_fragment = (load_u16(quote.data() + 2) & 0xfff8U) != 0;
    if (later_fragment) return false;
    flow.protocol = load_u8(quote.data());
    quote = quote.subspan(kFragmentHeaderSize);
  }
  return true;
}

}  // namespace

std::optional<IcmpMessage> parse_icmp(const IpHeader& ip, ConstBytes payload) {
  if (payload.size() < kIcmpHeaderSize || icmp_checksum(ip, payload) != 0) return std::nullopt;
  const std::byte* p = payload.data();
  return IcmpMessage{.type = load_u8(p),
                     .code = load_u8(p + 1),
                     .rest = load_u32(p + 4),
                     .body = payload.subspan(kIcmpHeaderSize)};
}

std::size_t write_icmp(const IpHeader& ip, const IcmpMessage& message, MutableBytes out) {
  const std::size_t size = kIcmpHeaderSize + message.body.size();
  SATRELAY_CHECK(out.size() >= size);
  std::byte* p = out.data();
  store_u8(p, message.type);
  store_u8(p + 1, message.code);
  store_u16(p + 2, 0);
  store_u32(p + 4, message.rest);
  if (!message.body.empty()) {
    std::memcpy(p + kIcmpHeaderSize, message.body.data(), message.body.size());
  }
  store_u16(p + 2, icmp_checksum(ip, out.first(size)));
  return size;
}

bool is_icmp_error(const IpHeader& ip, const IcmpMessage& message) {
  if (!ip.source.is_v4()) return message.type < kFirstInformationalV6;
  switch (message.type) {
    case kIcmpUnreachable:
    case kIcmpSourceQuench:
    case kIcmpTimeExceeded:
    case kIcmpParameterProblem:
      return true;
    default:  // a redirect concerns a route, not the flow that it quotes
      return false;
  }
}

std::optional<QuotedFlow> parse_quoted_flow(const IpHeader& ip, const IcmpMessage& error) {
  ConstBytes quote = error.body;
  QuotedFlow flow;
  const bool parsed =
      ip.source.is_v4() ? parse_quoted_v4(quote, flow) : parse_quoted_v6(quote, flow);
  if (!parsed || quote.size() < kQuotedOctets) return std::nullopt;
  if (flow.protocol == kProtocolTcp || flow.protocol == kProtocolUdp) {
    flow.source_port = load_u16(quote.data());
    flow.destination_port = load_u16(quote.data() + 2);
  }
  if (flow.protocol == kProtocolTcp) flow.sequence = load_u32(quote.data() + 4);
  return flow;
}

}  // namespace satrelay::wire
