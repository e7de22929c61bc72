// An AF_PACKET socket on a kernel interface, as an inline bridge needs it. It receives every frame
// that other machines send, whole, as large as offloads have made it. The kernel adds what it knows
// of the frame's checksum and VLAN tag.
//
// A virtio_net_hdr precedes each frame in both directions (PACKET_VNET_HDR), so hosts keep their
// offloads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class PacketSocket {
 public:
  // Frames that may wait to be received, as the kernel counts memory. This holds half a second of
  // full frames at 2.5 Gbit/s, on a machine on which other programs run as well. The queues of a
  // port divide it.
  static constexpr std::size_t kReceiveBuffer = std::size_t{256} << 20;
  static constexpr std::size_t kLeastReceiveBuffer = std::size_t{64} << 20;
  static constexpr std::size_t receive_buffer_of(unsigned queues) {
    return std::max(kReceiveBuffer / queues, kLeastReceiveBuffer);
  }
  static constexpr std::size_t kSendBuffer = std::size_t{8} << 20;

  // On interface `index`, promiscuous. `queues`: sockets of the port. Throws std::runtime_error.
  explicit PacketSocket(unsigned index, unsigned queues = 1);
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket();

  // False once the interface has vanished: the kernel then unbinds the socket. Any thread.
  bool is_bound() const;
  // Binds the socket to another interface. Needs no rights: only opening does (packet(7)). Any
  // thread. Throws std::runtime_error.
  void bind_to(unsigned index);
  // Call this if the interface is another one, or has come up: its earlier refusals no longer
  // count. Any thread.
  void note_change() { changes_.fetch_add(1, std::memory_order_relaxed); }
  unsigned changes() const { return changes_.load(std::memory_order_relaxed); }

  int descriptor() const { return descriptor_; }
  // Bytes that may wait to be received, as the kernel has granted them.
  std::size_t receive_buffer() const;
  // Frames dropped for lack of room since the socket was opened.
  std::uint64_t dropped() const;

 private:
  int descriptor_ = -1;
  std::atomic<unsigned> changes_ = 0;
  mutable std::atomic<std::uint64_t> dropped_ = 0;  // the kernel's counts restart when read
};

}  // namespace satrelay::dpdk
