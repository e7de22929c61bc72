#include "pep/tcp/receiving/receive_window.h"

#include <algorithm>

namespace satrelay::tcp {
namespace {

constexpr std::uint64_t kLargestField = 65'535;

}  // namespace

std::uint64_t ReceiveWindow::best_edge(const Memory& memory) const {
  const std::uint64_t storable =
      std::min(std::max(memory.consumed + limit_, memory.next), memory.next + memory.free);
  return round(std::max(storable, promised_), memory);
}

std::uint64_t ReceiveWindow::worthwhile_step() const {
  return std::max<std::uint64_t>(std::min<std::uint64_t>(limit_ / 2, segment_size_), 1);
}

// Rounds `edge` to a position that the window field can express.
std::uint64_t ReceiveWindow::round(std::uint64_t edge, const Memory& memory) const {
  if (edge <= memory.next) return memory.next;
  const std::uint64_t unit = std::uint64_t{1} << shift_;
  const std::uint64_t largest = kLargestField << shift_;
  const std::uint64_t base = memory.acknowledged();
  const std::uint64_t down = (edge - base) & ~(unit - 1);
  const std::uint64_t up = (edge - base + unit - 1) & ~(unit - 1);
  const bool up_fits = base + up <= memory.consumed + limit_ + unit - 1 &&
                       base + up <= memory.next + memory.free + unit - 1;
  return base + std::min(up_fits ? up : down, largest);
}

std::uint16_t ReceiveWindow::advertise(const Memory& memory) {
  const std::uint64_t best = best_edge(memory);
  told_ = best >= promised_ + worthwhile_step() ? best : round(promised_, memory);
  promised_ = std::max(promised_, told_);
  return static_cast<std::uint16_t>((told_ - memory.acknowledged()) >> shift_);
}

std::uint16_t ReceiveWindow::advertise_unscaled(const Memory& memory) {
  const std::uint64_t field = std::min({limit_, memory.free, kLargestField});
  told_ = memory.next + field;
  promised_ = std::max(promised_, told_);
  return static_cast<std::uint16_t>(field);
}

bool ReceiveWindow::update_due(const Memory& memory) const {
  const std::uint64_t best = best_edge(memory);
  if (best < told_ + worthwhile_step()) return false;
  // As long as the peer's window is open, the next ACK of data carries the new window. An update
  // for each consumed segment would double the number of ACKs.
  const std::uint64_t open = told_ > memory.next ? told_ - memory.next : 0;
  return open < 2 * segment_size_ || best - told_ >= limit_ / 4;
}

}  // namespace satrelay::tcp
