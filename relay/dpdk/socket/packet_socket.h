// An AF_PACKET socket on a kernel interface, as an inline bridge wants it: every frame of others,
// whole, as large as offloads have made it, with what the kernel knows of its checksum and its
// VLAN tag.
//
// A frame comes and goes behind a virtio_net_hdr (PACKET_VNET_HDR): hosts keep their offloads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class PacketSocket {
 public:
  // What may wait to be received, as the kernel counts memory: half a second of full frames at
  // 2.5 Gbit/s, on a machine on which others run as well. The queues of a port divide it.
  static constexpr std::size_t kReceiveBuffer = std::size_t{256} << 20;
  static constexpr std::size_t kLeastReceiveBuffer = std::size_t{64} << 20;
  static constexpr std::size_t receive_buffer_of(unsigned queues) {
    return std::max(kReceiveBuffer / queues, kLeastReceiveBuffer);
  }
  static constexpr std::size_t kSendBuffer = std::size_t{8} << 20;

  // On interface `index`, promiscuous, one of so many of its port. Throws std::runtime_error.
  explicit PacketSocket(unsigned index, unsigned queues = 1);
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket();

  // Whether it is still on the interface that it was bound to: the kernel takes it off one that
  // vanishes. Any thread.
  bool is_bound() const;
  // To another interface. Needs no rights (packet(7): only opening does). Any thread. Throws
  // std::runtime_error.
  void bind_to(unsigned index);
  // The interface is another one, or has come up: what it has refused says nothing any more. Any
  // thread.
  void note_change() { changes_.fetch_add(1, std::memory_order_relaxed); }
  unsigned changes() const { return changes_.load(std::memory_order_relaxed); }

  int descriptor() const { return descriptor_; }
  // Bytes that may wait, as the kernel has granted them.
  std::size_t receive_buffer() const;
  // Frames that found no room, since the socket was opened.
  std::uint64_t dropped() const;

 private:
  int descriptor_ = -1;
  std::atomic<unsigned> changes_ = 0;
  mutable std::atomic<std::uint64_t> dropped_ = 0;  // the kernel's own count restarts when read
};

}  // namespace satrelay::dpdk
