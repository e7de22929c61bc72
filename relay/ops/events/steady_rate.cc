#include "relay/ops/events/steady_rate.h"

#include <utility>

namespace satrelay::ops {
namespace {

bool is_near(BitRate value, BitRate other) {
  return value >= other.scaled(90, 100) && value <= other.scaled(110, 100);
}

}  // namespace

std::optional<SteadyRate::Change> SteadyRate::look(BitRate value, Instant now) {
  if (value.is_zero()) {
    moved_to_ = BitRate();
    return std::nullopt;
  }
  if (!is_near(value, moved_to_)) {
    moved_to_ = value;
    moved_at_ = now;
  }
  if (now < moved_at_ + kSteadyAfter || is_near(value, told_)) return std::nullopt;
  return Change{.before = std::exchange(told_, value), .after = value};
}

}  // namespace satrelay::ops
