#include "relay/satrelayd/workers/handover.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace satrelay::satrelayd {
namespace {

// Packs the item without its packet into 64 bits: the lowest bits have `what` and `port`, the other
// bits have `since`.
constexpr unsigned kCodeBits = 3;
std::uint64_t note_of(const Handover::Item& item) {
  return static_cast<std::uint64_t>(item.since.to_nanoseconds()) << kCodeBits |
         static_cast<std::uint64_t>(item.what) << 1 | static_cast<std::uint64_t>(item.port);
}

}  // namespace

Handover::Bell::Bell() : descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor < 0) throw std::runtime_error(std::string("eventfd: ") + std::strerror(errno));
}

Handover::Bell::~Bell() { ::close(descriptor); }

Handover::Handover(const std::string& name, unsigned workers)
    : workers_(workers),
      lost_(std::size_t{workers} * workers),
      missed_(workers),
      late_(workers),
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
  if (item.what == What::kHeard && !hears(from, to)) return false;
  return ring(from, to).give(item.packet, note_of(item));
}

// If the giver calls take_late() at the same time, it may get the `since` of the previous delay or
// of this delay.
void Handover::note_late(unsigned giver, Instant since, Instant now) {
  LateNote& note = late_[giver];
  const std::int64_t before = note.now.load(std::memory_order_relaxed);
  if (note.told.load(std::memory_order_acquire) == before) {
    note.since.store(since.to_nanoseconds(), std::memory_order_relaxed);
  }
  note.now.store(now.to_nanoseconds(), std::memory_order_release);
}

std::optional<Handover::Late> Handover::take_late(unsigned giver) {
  LateNote& note = late_[giver];
  const std::int64_t now = note.now.load(std::memory_order_acquire);
  if (now == note.told.load(std::memory_order_relaxed)) return std::nullopt;
  const std::int64_t since = std::min(note.since.load(std::memory_order_relaxed), now);
  note.told.store(now, std::memory_order_release);
  return Late{Instant::from_nanoseconds(since), Instant::from_nanoseconds(now)};
}

void Handover::wake(unsigned to) {
  Bell& bell = bells_[to];
  if (bell.rung.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  static_cast<void>(!::write(bell.descriptor, &one, sizeof one));
}

// A thread in wake() sets `rung` first, and may write to the descriptor only after this function
// has cleared `rung`. So read the descriptor after each rest. Otherwise it could stay readable, and
// end every later rest at once.
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
    const std::uint64_t note = taken[i].note;
    items[i] = {.what = static_cast<What>(note >> 1 & 3),
                .port = static_cast<gateway::PortId>(note & 1),
                .packet = std::move(taken[i].packet),
                .since = Instant::from_nanoseconds(static_cast<std::int64_t>(note >> kCodeBits))};
  }
  return count;
}

}  // namespace satrelay::satrelayd
