#include "relay/dpdk/device/packet_ring.h"

#include <rte_errno.h>
#include <rte_ring.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace satrelay::dpdk {

PacketRing::PacketRing(const std::string& name, std::size_t room)
    : ring_(rte_ring_create(name.c_str(), static_cast<unsigned>(room + 1), SOCKET_ID_ANY,
                            RING_F_SP_ENQ | RING_F_SC_DEQ)) {
  if (ring_ == nullptr) {
    throw std::runtime_error("ring " + name + ": " + rte_strerror(rte_errno));
  }
}

PacketRing::~PacketRing() {
  std::array<Item, kBurst> left;
  while (take(left) > 0) left = {};
  rte_ring_free(ring_);
}

bool PacketRing::give(Packet& packet, std::uint64_t note) {
  rte_mbuf* const mbuf = packet.release();
  static_assert(sizeof mbuf->hash == sizeof note);  // no other code uses this field
  std::memcpy(&mbuf->hash, &note, sizeof note);
  if (rte_ring_sp_enqueue(ring_, mbuf) == 0) return true;
  packet = Packet(mbuf);
  return false;
}

std::size_t PacketRing::room() const { return rte_ring_free_count(ring_); }

std::size_t PacketRing::take(std::span<Item, kBurst> items) {
  std::array<void*, kBurst> packets;
  const unsigned count = rte_ring_sc_dequeue_burst(ring_, packets.data(), kBurst, nullptr);
  for (unsigned i = 0; i < count; ++i) {
    auto* const mbuf = static_cast<rte_mbuf*>(packets[i]);
    std::memcpy(&items[i].note, &mbuf->hash, sizeof items[i].note);
    items[i].packet = Packet(mbuf);
  }
  return count;
}

}  // namespace satrelay::dpdk
