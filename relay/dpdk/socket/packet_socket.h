// An AF_PACKET socket on a kernel interface, as an inline bridge needs it. It receives every frame
// that other machines send, including large frames that offloads have made. With each frame the
// kernel reports the state of the checksum, and the VLAN tag that it has removed.
//
// A virtio_net_hdr precedes each frame in both directions (PACKET_VNET_HDR), so hosts can keep
// their offloads switched on.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace satrelay::dpdk {

class PacketSocket {
 public:
  // Receive buffer of a port in bytes, as the kernel counts memory. It has room for half a second
  // of full-sized frames at 2.5 Gbit/s, since other programs on the machine may delay this one. It
  // is divided among the queues of the port, but each queue gets at least kLeastReceiveBuffer.
  static constexpr std::size_t kReceiveBuffer = std::size_t{256} << 20;
  static constexpr std::size_t kLeastReceiveBuffer = std::size_t{64} << 20;
  static constexpr std::size_t receive_buffer_of(unsigned queues) {
    return std::max(kReceiveBuffer / queues, kLeastReceiveBuffer);
  }
  static constexpr std::size_t kSendBuffer = std::size_t{8} << 20;

  // Opens a socket on interface `index`, in promiscuous mode. The socket ignores all frames until
  // begin_to_receive(). `queues`: number of sockets of the port. Throws std::runtime_error.
  explicit PacketSocket(unsigned index, unsigned queues = 1);
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket();

  // Throws std::runtime_error.
  void begin_to_receive();

  // Whether the socket is bound to an interface. The kernel unbinds it when the interface vanishes.
  // Any thread may call this.
  bool is_bound() const;
  // Binds the socket to another interface. Needs no privileges: only opening a socket does
  // (packet(7)). Any thread may call this. Throws std::runtime_error.
  void bind_to(unsigned index);
  // Call this if the socket is bound to another interface, or if the interface has come up. The
  // sender then forgets the large frames that the interface has refused. Any thread may call this.
  void note_change() { changes_.fetch_add(1, std::memory_order_relaxed); }
  unsigned changes() const { return changes_.load(std::memory_order_relaxed); }

  int descriptor() const { return descriptor_; }
  // The size of the receive buffer that the kernel has granted, in bytes.
  std::size_t receive_buffer() const;
  // Number of frames that were dropped because there was no room, since the socket was opened.
  std::uint64_t dropped() const;

 private:
  int descriptor_ = -1;
  bool is_in_group_;  // whether other sockets share the frames of the interface
  std::atomic<unsigned> changes_ = 0;
  // The sum of the kernel's counts. A read resets the kernel's count to zero.
  mutable std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace satrelay::dpdk
