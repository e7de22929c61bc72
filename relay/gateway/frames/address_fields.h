// Reads and writes addresses in the metadata of streams, as octets in network order without a
// length.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "pep/base/address.h"
#include "pep/base/bytes.h"
#include "pep/wire/ethernet.h"

namespace satrelay::gateway {

inline constexpr std::uint8_t kIpVersion4 = 4, kIpVersion6 = 6;

inline void write_address(ByteWriter& writer, const IpAddress& address) {
  writer.bytes(std::as_bytes(std::span(address.octets())).first(address.size()));
}

inline IpAddress read_address(ByteReader& reader, bool is_v4) {
  std::array<std::uint8_t, 16> octets{};
  std::ranges::copy(reader.bytes(is_v4 ? 4 : 16),
                    std::as_writable_bytes(std::span(octets)).begin());
  return is_v4 ? IpAddress::v4({octets[0], octets[1], octets[2], octets[3]})
               : IpAddress::v6(octets);
}

inline void write_mac(ByteWriter& writer, const MacAddress& mac) {
  writer.bytes(std::as_bytes(std::span(mac.octets)));
}

inline MacAddress read_mac(ByteReader& reader) {
  MacAddress mac;
  std::ranges::copy(reader.bytes(mac.octets.size()),
                    std::as_writable_bytes(std::span(mac.octets)).begin());
  return mac;
}

// The VLAN tags of a frame. The number of tags is written and read separately; it is at most
// wire::kMaxVlanTags.
inline void write_tags(ByteWriter& writer, const wire::EthernetHeader& header) {
  for (std::size_t i = 0; i < header.tag_count; ++i) {
    writer.u16(header.tags[i].tpid);
    writer.u16(header.tags[i].tci);
  }
}

inline void read_tags(ByteReader& reader, std::uint8_t count, wire::EthernetHeader& header) {
  header.tag_count = count;
  for (std::size_t i = 0; i < count; ++i) {
    header.tags[i].tpid = reader.u16();
    header.tags[i].tci = reader.u16();
  }
}

}  // namespace satrelay::gateway
