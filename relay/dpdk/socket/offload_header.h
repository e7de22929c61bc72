// The header in front of each frame of a packet socket with PACKET_VNET_HDR. It is struct
// virtio_net_hdr (virtio 1.2 section 5.1.6). The kernel's header <linux/virtio_net.h> does not
// compile as C++. The fields are in the machine's byte order.
#pragma once

#include <cstdint>

namespace satrelay::dpdk {

struct OffloadHeader {
  // The receiver of the frame must sum the bytes from checksum_start on, and write the checksum
  // checksum_offset bytes behind checksum_start. Until then that field holds the sum of the
  // pseudo-header.
  static constexpr std::uint8_t kNeedsChecksum = 1;

  static constexpr std::uint8_t kNotLarge = 0;
  static constexpr std::uint8_t kTcpV4 = 1;
  static constexpr std::uint8_t kTcpV6 = 4;
  static constexpr std::uint8_t kUdp = 5;  // Linux accepts it for sending since 6.2
  // Flag for TCP kinds: only the first segment gets the flag CWR.
  static constexpr std::uint8_t kEcn = 0x80;

  std::uint8_t flags = 0;
  std::uint8_t kind = kNotLarge;  // protocol of a large frame
  std::uint16_t header_size = 0;
  std::uint16_t segment_size = 0;  // bytes of payload in each segment
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

}  // namespace satrelay::dpdk
