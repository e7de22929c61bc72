#include "relay/dpdk/packet_pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_memcpy.h>

#include <stdexcept>

#include "relay/dpdk/frame_ring_size.h"

namespace satrelay::dpdk {
namespace {

constexpr unsigned kCacheSize = 256;

}  // namespace

std::size_t PacketPool::room_for(std::uint16_t mtu) {
  // The af_packet driver insists on room for the largest frame that its ring could hold.
  return FrameRingSize::for_mtu(mtu).frame_size;
}

std::size_t PacketPool::memory_for(std::size_t packets, std::uint16_t mtu) {
  rte_mempool_objsz layout{};
  const std::size_t element = sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM + room_for(mtu);
  rte_mempool_calc_obj_size(static_cast<std::uint32_t>(element), 0, &layout);
  // One pointer an object in the pool's ring, which is a power of two in size.
  return packets * (layout.total_size + 2 * sizeof(void*)) + (std::size_t{1} << 20);
}

PacketPool::PacketPool(const std::string& name, std::size_t packets, std::uint16_t mtu)
    : pool_(rte_pktmbuf_pool_create(
          name.c_str(), static_cast<unsigned>(packets), packets > 4 * kCacheSize ? kCacheSize : 0,
          0, static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + room_for(mtu)), SOCKET_ID_ANY)) {
  if (pool_ == nullptr) {
    throw std::runtime_error("cannot allocate " + std::to_string(packets) + " packet buffers of " +
                             std::to_string(room_for(mtu)) + " bytes: " + rte_strerror(rte_errno));
  }
}

PacketPool::~PacketPool() { rte_mempool_free(pool_); }

Packet PacketPool::copy(const Packet& packet) {
  Packet result = allocate();
  if (result) {
    const ConstBytes bytes = packet.bytes();
    rte_memcpy(result.room().data(), bytes.data(), bytes.size());
    result.set_size(bytes.size());
  }
  return result;
}

}  // namespace satrelay::dpdk
