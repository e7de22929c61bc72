#include "pep/wire/udp.h"

#include "pep/base/check.h"

namespace satrelay::wire {

std::optional<UdpHeader> parse_udp(ConstBytes datagram) {
  if (datagram.size() < kUdpHeaderSize) return std::nullopt;
  const std::byte* p = datagram.data();
  const UdpHeader header{.source_port = load_u16(p),
                         .destination_port = load_u16(p + 2),
                         .length = load_u16(p + 4),
                         .checksum = load_u16(p + kUdpChecksumOffset)};
  if (header.length < kUdpHeaderSize || header.length > datagram.size()) return std::nullopt;
  return header;
}

void write_udp(const UdpHeader& header, MutableBytes out) {
  SATRELAY_CHECK(out.size() >= kUdpHeaderSize);
  std::byte* p = out.data();
  store_u16(p, header.source_port);
  store_u16(p + 2, header.destination_port);
  store_u16(p + 4, header.length);
  store_u16(p + kUdpChecksumOffset, header.checksum);
}

}  // namespace satrelay::wire
