// The AF_PACKET socket under a port of DPDK's af_packet driver.
//
// The driver of DPDK 22.11 joins its socket to a fanout group that reassembles IPv4 fragments (and
// then truncates the result to one ring slot), shows frames that this machine's own kernel sends,
// and keeps to itself what the kernel tells about each frame. An inline bridge can live with none
// of this. So the socket is replaced, right after the driver has made it, by one with the same
// rings at the same descriptor and the same address, but no fanout group; and each ring slot is
// looked at before the driver takes it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "relay/dpdk/burst.h"
#include "relay/dpdk/frame_ring_size.h"

namespace satrelay::dpdk {

// What the kernel says about one received frame beside its bytes.
struct FrameMark {
  std::uint16_t tag_protocol = 0;    // the VLAN tag's, if the driver will write a wrong one
  bool is_merged = false;            // longer than the MTU: an offload has merged frames
  bool checksum_unfinished = false;  // the sender is on this machine and left it to a NIC
};

class PacketSocket {
 public:
  // Replaces the socket that the driver has just opened on interface `index` with rings for `mtu`.
  // Throws std::runtime_error if the driver does not look as expected.
  PacketSocket(unsigned index, std::uint16_t mtu);
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;
  ~PacketSocket() = default;  // the driver closes the descriptor and unmaps the rings

  struct Waiting {
    std::size_t count = 0;  // frames that the driver may take now
    bool marked = false;    // a mark says something
  };
  // Looks at the next frames, at most `limit` (<= Burst::kCapacity). marks() of them are valid
  // until the next call.
  Waiting inspect(std::size_t limit);
  const FrameMark& mark(std::size_t i) const { return marks_[i]; }
  // The driver has taken `count` frames.
  void advance(std::size_t count);

  // Whether it is still on the interface that it was bound to: the kernel takes it off one that
  // vanishes. Any thread.
  bool is_bound() const;
  // To another interface, promiscuous; rings and descriptor stay. Needs no rights (packet(7): only
  // opening does). Any thread. Throws std::runtime_error.
  void bind_to(unsigned index);

  int descriptor() const { return descriptor_; }
  // Frames that found no free slot, since the socket was opened.
  std::uint64_t dropped() const;

 private:
  std::byte* rings_ = nullptr;
  FrameRingSize size_;
  std::uint32_t longest_;  // frame that the MTU allows, two tags included
  int descriptor_ = -1;
  std::size_t next_slot_ = 0;
  std::array<FrameMark, Burst::kCapacity> marks_{};
  mutable std::atomic<std::uint64_t> dropped_ = 0;  // the kernel's own count restarts when read
};

}  // namespace satrelay::dpdk
