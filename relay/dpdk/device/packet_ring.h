// A bounded FIFO queue of packets from one thread to another. Each packet carries a number, called
// the note. The two threads define its meaning. Exactly one thread writes, and exactly one thread
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "relay/dpdk/device/packet.h"

struct rte_ring;

namespace satrelay::dpdk {

class PacketRing {
 public:
  struct Item {
    std::uint64_t note = 0;
    Packet packet;
  };

  // `room`: the capacity in packets, a power of two minus one. Throws std::runtime_error. Needs a
  // running Eal.
  PacketRing(const std::string& name, std::size_t room);
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  // Frees the packets that were not taken.
  ~PacketRing();

  // For the writing thread. Returns false if the ring is full; the caller then keeps the packet.
  bool give(Packet& packet, std::uint64_t note);
  // For the writing thread. Returns how many packets fit now. If the reader takes packets, more
  // will fit.
  std::size_t room() const;
  static constexpr std::size_t kBurst = 32;
  // For the reading thread. Takes up to kBurst packets; returns their number.
  std::size_t take(std::span<Item, kBurst> items);

 private:
  rte_ring* ring_;
};

}  // namespace satrelay::dpdk
