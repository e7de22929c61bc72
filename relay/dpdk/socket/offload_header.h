// What stands in front of each frame of a packet socket with PACKET_VNET_HDR: struct virtio_net_hdr
// of <linux/virtio_net.h> (virtio 1.2 section 5.1.6), which is no C++. In the machine's byte order.
#pragma once

#include <cstdint>

namespace satrelay::dpdk {

struct OffloadHeader {
  // The checksum from checksum_start on is to be written at checksum_offset behind that; there
  // stands the sum of the pseudo-header.
  static constexpr std::uint8_t kNeedsChecksum = 1;

  static constexpr std::uint8_t kNotLarge = 0;
  static constexpr std::uint8_t kTcpV4 = 1;
  static constexpr std::uint8_t kTcpV6 = 4;
  static constexpr std::uint8_t kUdp = 5;     // to be sent so since Linux 6.2
  static constexpr std::uint8_t kEcn = 0x80;  // beside TCP: CWR belongs to the first piece

  std::uint8_t flags = 0;
  std::uint8_t kind = kNotLarge;  // of a large frame
  std::uint16_t header_size = 0;
  std::uint16_t segment_size = 0;  // payload of a piece
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

}  // namespace satrelay::dpdk
