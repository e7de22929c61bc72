// Packets that one thread gives another one, in order, each with a number that they agree about.
// Bounded; one thread writes, and one reads.
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

  // `room`: a power of two, less one. Throws std::runtime_error. Needs a running Eal.
  PacketRing(const std::string& name, std::size_t room);
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;
  // What nobody has taken goes back to its pool.
  ~PacketRing();

  // By the thread that writes. False if there is no room: then the packet is still the caller's.
  bool give(Packet& packet, std::uint64_t note);
  // For so many there is room, or for more by now.
  std::size_t room() const;
  static constexpr std::size_t kBurst = 32;
  // The next ones, so many at most; how many.
  std::size_t take(std::span<Item, kBurst> items);

 private:
  rte_ring* ring_;
};

}  // namespace satrelay::dpdk
