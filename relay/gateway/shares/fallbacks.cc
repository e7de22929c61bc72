#include "relay/gateway/shares/fallbacks.h"

#include <algorithm>

namespace satrelay::gateway {

Fallbacks::Fallbacks(unsigned workers) : workers_(workers) {
  const std::uint32_t equal = kWholeLink / workers;
  for (Worker& worker : workers_) worker = {.part = equal, .held = equal, .target = equal};
}

void Fallbacks::aim(std::span<const double> wanted) {
  double all = 0;
  for (const double each : wanted) all += each;
  if (!(all > 0)) return;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].target = static_cast<std::uint32_t>(wanted[i] / all * kWholeLink);
  }
}

void Fallbacks::divide(std::uint64_t serial, std::span<const std::uint64_t> taken,
                       std::span<const double> wanted) {
  bool settled = true;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (taken[i] >= worker.lowered) worker.held = worker.part;
    settled = settled && worker.held == worker.part;
  }
  // Compute new targets only after all workers have taken over their parts. If a part became
  // smaller at every tick, its worker could never confirm it in time.
  if (settled) aim(wanted);
  std::uint32_t held = 0;
  for (Worker& worker : workers_) {
    if (worker.target < worker.part) {
      worker.part = worker.target;
      worker.lowered = serial;
    }
    held += worker.held;
  }
  std::uint32_t room = kWholeLink - held;
  for (Worker& worker : workers_) {
    const std::uint32_t part = std::min(worker.target, worker.held + room);
    if (part <= worker.part) continue;
    worker.part = part;
    if (part <= worker.held) continue;
    room -= part - worker.held;
    worker.held = part;
  }
}

}  // namespace satrelay::gateway
