#include "relay/satrelayd/handover.h"

#include <rte_errno.h>
#include <rte_ring.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace satrelay::satrelayd {
namespace {

// What and port of an item stand in its packet, where nobody else keeps anything.
std::uint32_t code_of(const Handover::Item& item) {
  return static_cast<std::uint32_t>(item.what) << 1 | static_cast<std::uint32_t>(item.port);
}

}  // namespace

Handover::Handover(const std::string& name, unsigned workers)
    : workers_(workers),
      rings_(std::size_t{workers} * workers),
      bells_(std::make_unique<Bell[]>(workers)) {
  try {
    for (unsigned i = 0; i < workers; ++i) {
      bells_[i].descriptor = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
      if (bells_[i].descriptor < 0) {
        throw std::runtime_error(std::string("eventfd: ") + std::strerror(errno));
      }
      for (unsigned j = 0; j < workers; ++j) {
        if (i == j) continue;
        const std::string pair = name + '-' + std::to_string(i) + '-' + std::to_string(j);
        ring(i, j) =
            rte_ring_create(pair.c_str(), kRoom + 1, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
        if (ring(i, j) == nullptr) {
          throw std::runtime_error("ring between two workers: " +
                                   std::string(rte_strerror(rte_errno)));
        }
      }
    }
  } catch (...) {
    close();
    throw;
  }
}

Handover::~Handover() { close(); }

void Handover::close() {
  for (unsigned i = 0; i < workers_; ++i) {
    for (unsigned j = 0; j < workers_; ++j) {
      if (ring(i, j) == nullptr) continue;
      std::array<Item, kBurst> left;
      while (take(j, i, left) > 0) left = {};
      rte_ring_free(ring(i, j));
    }
    if (bells_[i].descriptor >= 0) ::close(bells_[i].descriptor);
  }
}

bool Handover::give(unsigned from, unsigned to, Item& item) {
  const std::uint32_t code = code_of(item);
  rte_mbuf* const packet = item.packet.release();
  packet->hash.usr = code;
  if (rte_ring_sp_enqueue(ring(from, to), packet) == 0) return true;
  item.packet = dpdk::Packet(packet);
  return false;
}

void Handover::wake(unsigned to) {
  Bell& bell = bells_[to];
  if (bell.rung.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(bell.descriptor, &one, sizeof one));
}

// Who rings may be slow to write: what comes late would end each rest to come.
void Handover::answer_bell(unsigned to, bool rested) {
  Bell& bell = bells_[to];
  if (!rested && !bell.rung.load(std::memory_order_relaxed)) return;
  std::uint64_t count = 0;
  static_cast<void>(!::read(bell.descriptor, &count, sizeof count));
  bell.rung.exchange(false, std::memory_order_acq_rel);
}

std::size_t Handover::take(unsigned to, unsigned from, std::array<Item, kBurst>& items) {
  std::array<void*, kBurst> packets;
  const unsigned count = rte_ring_sc_dequeue_burst(ring(from, to), packets.data(), kBurst, nullptr);
  for (unsigned i = 0; i < count; ++i) {
    auto* const packet = static_cast<rte_mbuf*>(packets[i]);
    const std::uint32_t code = packet->hash.usr;
    items[i] = {.what = static_cast<What>(code >> 1),
                .port = static_cast<gateway::PortId>(code & 1),
                .packet = dpdk::Packet(packet)};
  }
  return count;
}

}  // namespace satrelay::satrelayd
