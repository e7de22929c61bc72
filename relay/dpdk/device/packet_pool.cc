#include "relay/dpdk/device/packet_pool.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memcpy.h>

#include <stdexcept>

namespace satrelay::dpdk {
namespace {

constexpr unsigned kCacheSize = 256;

std::uint32_t element_size(std::uint16_t mtu) {
  return static_cast<std::uint32_t>(sizeof(rte_mbuf) + RTE_PKTMBUF_HEADROOM +
                                    PacketPool::room_for(mtu));
}

}  // namespace

std::size_t PacketPool::room_for(std::uint16_t mtu) {
  // Network cards want buffers of whole KiB. In addition to the MTU, a frame has an Ethernet header
  // (14), two VLAN tags (8) and an FCS (4).
  const std::size_t needed = 14U + 8U + 4U + mtu;
  return needed <= 2048 ? 2048 : (needed + 1023U) / 1024U * 1024U;
}

std::size_t PacketPool::memory_for(std::size_t packets, std::uint16_t mtu) {
  rte_mempool_objsz layout{};
  rte_mempool_calc_obj_size(element_size(mtu), 0, &layout);
  // Each object has a pointer in the pool's ring. The ring's size is rounded up to a power of two,
  // so allow two pointers per object. The end of each hugepage may be too short for an object, so
  // add 2%.
  const std::size_t bytes = packets * (layout.total_size + 2 * sizeof(void*));
  return bytes + bytes / 50 + (std::size_t{1} << 20);
}

PacketPool::PacketPool(const std::string& name, std::size_t packets, std::uint16_t mtu) {
  // Does the same as rte_pktmbuf_pool_create(), but on normal pages the buffers may cross page
  // boundaries. Otherwise half the memory would be wasted. This is safe: devices that work without
  // hugepages copy the frames, or use virtual addresses.
  const unsigned flags = rte_eal_has_hugepages() ? 0U : unsigned{RTE_MEMPOOL_F_NO_IOVA_CONTIG};
  const unsigned cache = packets > 4 * kCacheSize ? kCacheSize : 0;
  pool_ = rte_mempool_create_empty(name.c_str(), static_cast<unsigned>(packets), element_size(mtu),
                                   cache, sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, flags);
  if (pool_ != nullptr &&
      rte_mempool_set_ops_byname(pool_, rte_mbuf_best_mempool_ops(), nullptr) == 0) {
    rte_pktmbuf_pool_private sizes{};
    sizes.mbuf_data_room_size = static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + room_for(mtu));
    rte_pktmbuf_pool_init(pool_, &sizes);
    if (rte_mempool_populate_default(pool_) > 0) {
      rte_mempool_obj_iter(pool_, rte_pktmbuf_init, nullptr);
      return;
    }
  }
  const std::string reason = rte_strerror(rte_errno);
  rte_mempool_free(pool_);
  throw std::runtime_error("cannot allocate " + std::to_string(packets) + " packet buffers of " +
                           std::to_string(room_for(mtu)) + " bytes: " + reason);
}

PacketPool::~PacketPool() { rte_mempool_free(pool_); }

Packet PacketPool::copy(const Packet& packet) {
  Packet result = allocate();
  if (result) {
    const ConstBytes bytes = packet.bytes();
    rte_memcpy(result.room().data(), bytes.data(), bytes.size());
    result.set_size(bytes.size());
    result.set_received();
  }
  return result;
}

}  // namespace satrelay::dpdk
