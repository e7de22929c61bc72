// UDP header (RFC 768).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/bytes.h"

namespace satrelay::wire {

inline constexpr std::size_t kUdpHeaderSize = 8;
inline constexpr std::size_t kUdpLengthOffset = 4;
inline constexpr std::size_t kUdpChecksumOffset = 6;

struct UdpHeader {
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint16_t length = 0;    // bytes of header and payload
  std::uint16_t checksum = 0;  // 0 if there is no checksum (IPv4 only)
};

// Returns nullopt if the datagram is short or its length field is impossible.
std::optional<UdpHeader> parse_udp(ConstBytes datagram);
// Writes kUdpHeaderSize bytes.
void write_udp(const UdpHeader& header, MutableBytes out);

}  // namespace satrelay::wire
