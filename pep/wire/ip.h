// IPv4 (RFC 791) and IPv6 (RFC 8200) headers, as one value type with the fields that a relay needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/address.h"
#include "pep/base/bytes.h"

namespace satrelay::wire {

inline constexpr std::uint8_t kProtocolIcmp = 1;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;
inline constexpr std::uint8_t kProtocolIcmpV6 = 58;
inline constexpr std::size_t kIpv4HeaderSize = 20;
inline constexpr std::size_t kIpv6HeaderSize = 40;

struct IpHeader {
  IpAddress source;
  IpAddress destination;
  std::uint8_t protocol = 0;          // IPv6: the first next-header value
  std::uint8_t traffic_class = 0;     // DSCP and ECN
  std::uint8_t hop_limit = 64;        // TTL
  std::uint32_t flow_label = 0;       // IPv6 only
  std::uint16_t identification = 0;   // IPv4 only
  bool dont_fragment = true;          // IPv4 only
  bool more_fragments = false;        // parse_ip() sets it for IPv4 only
  std::uint16_t fragment_offset = 0;  // bytes; parse_ip() sets it for IPv4 only
  std::uint16_t header_size = 0;      // including IPv4 options
  std::uint16_t payload_size = 0;     // bytes after the header, from the length field

  bool is_fragment() const { return more_fragments || fragment_offset != 0; }
  bool is_first_fragment() const { return more_fragments && fragment_offset == 0; }
  bool has_options() const { return source.is_v4() && header_size > kIpv4HeaderSize; }
};

// Parses the header at the front of `packet`. Returns nullopt if `packet` is short or has another
// version, if the IPv4 header checksum is wrong, or if a length field exceeds the packet. IPv6
// extension headers are not walked (extension_headers.h): `protocol` is the next-header value of
// the fixed header.
std::optional<IpHeader> parse_ip(ConstBytes packet);
// Fills `header`, which must be in its initial state, instead of returning a header.
[[nodiscard]] bool parse_ip(ConstBytes packet, IpHeader& header);

// Writes an IPv4 header without options or an IPv6 header. The lengths come from payload_size, and
// header_size is ignored. Computes the IPv4 checksum. Returns the size written; `out` must have
// room for it.
std::size_t write_ip(const IpHeader& header, MutableBytes out);

}  // namespace satrelay::wire
