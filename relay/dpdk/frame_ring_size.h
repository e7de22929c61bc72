// The shape of an AF_PACKET ring for one MTU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

struct FrameRingSize {
  std::size_t frame_size;   // of one slot, kernel header included
  std::size_t block_size;   // whole pages, whole slots: DPDK's driver lays slots end to end
  std::size_t frame_count;  // slots in each direction

  static constexpr FrameRingSize for_mtu(std::uint16_t mtu) {
    // Kernel header and address in front of the frame (66 bytes), Ethernet header, two VLAN tags.
    const std::size_t needed = 66U + 14U + 8U + mtu;
    // Slots of 2 KiB hold the usual MTU; jumbo slots are a multiple of 1 KiB, four to a block.
    // 8,192 of them outlast a scheduler's pause of 95 ms at 1 Gbit/s; 24 ms were not enough where
    // gateways, link and hosts share two cores.
    if (needed <= 2048) return {2048, std::size_t{1} << 16, 8192};
    const std::size_t frame = (needed + 1023U) / 1024U * 1024U;
    return {frame, 4U * frame, 2048};
  }
};

}  // namespace satrelay::dpdk
