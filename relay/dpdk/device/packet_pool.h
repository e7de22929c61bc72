// The mbufs of a process. All frames that the process receives, holds or builds are in buffers of
// one pool, which is sized at start-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "relay/dpdk/device/packet.h"

namespace satrelay::dpdk {

class PacketPool {
 public:
  // Allocates `packets` mbufs, each with room for an IP packet of `mtu` bytes behind two VLAN tags.
  // Throws std::runtime_error if the EAL's memory does not hold them. Needs a running Eal.
  PacketPool(const std::string& name, std::size_t packets, std::uint16_t mtu);
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;
  ~PacketPool();

  // Returns a packet of size 0, or an empty Packet if the pool is exhausted.
  Packet allocate() { return Packet(rte_pktmbuf_alloc(pool_)); }
  // Returns a copy of the frame without the mbuf's checksum flags, or an empty Packet if the pool
  // is exhausted.
  Packet copy(const Packet& packet);

  std::size_t available() const { return rte_mempool_avail_count(pool_); }
  std::size_t size() const { return pool_->size; }
  rte_mempool* raw() { return pool_; }

  // The bytes of EAL memory that a pool with these arguments needs, for EalConfig::memory.
  static std::size_t memory_for(std::size_t packets, std::uint16_t mtu);
  // Size of the buffer of each mbuf behind the headroom, in bytes.
  static std::size_t room_for(std::uint16_t mtu);

 private:
  rte_mempool* pool_ = nullptr;
};

}  // namespace satrelay::dpdk
