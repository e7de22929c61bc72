#include "relay/satrelayd/handover.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace satrelay::satrelayd {
namespace {

// What and port of an item, as the ring keeps them.
std::uint32_t code_of(const Handover::Item& item) {
  return static_cast<std::uint32_t>(item.what) << 1 | static_cast<std::uint32_t>(item.port);
}

}  // namespace

Handover::Bell::Bell() : descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor < 0) throw std::runtime_error(std::string("eventfd: ") + std::strerror(errno));
}

Handover::Bell::~Bell() { ::close(descriptor); }

Handover::Handover(const std::string& name, unsigned workers)
    : workers_(workers),
      rings_(std::size_t{workers} * workers),
      bells_(std::make_unique<Bell[]>(workers)) {
  for (unsigned i = 0; i < workers; ++i) {
    for (unsigned j = 0; j < workers; ++j) {
      if (i == j) continue;
      rings_[i * workers + j] = std::make_unique<dpdk::PacketRing>(
          name + '-' + std::to_string(i) + '-' + std::to_string(j), kRoom);
    }
  }
}

bool Handover::give(unsigned from, unsigned to, Item& item) {
  dpdk::PacketRing& ring = this->ring(from, to);
  if (item.what == What::kHeard && ring.room() <= kRoom - kRoomToHear) return false;
  return ring.give(item.packet, code_of(item));
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
  std::array<dpdk::PacketRing::Item, kBurst> taken;
  const std::size_t count = ring(from, to).take(taken);
  for (std::size_t i = 0; i < count; ++i) {
    items[i] = {.what = static_cast<What>(taken[i].note >> 1),
                .port = static_cast<gateway::PortId>(taken[i].note & 1),
                .packet = std::move(taken[i].packet)};
  }
  return count;
}

}  // namespace satrelay::satrelayd
