// What an operator may set of a class at run time.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct ClassChange {
  std::optional<std::uint8_t> weight = {};
  std::optional<BitRate> guaranteed = {};  // zero: nothing
  std::optional<BitRate> maximum = {};     // zero: all there is
  bool as_configured = false;              // before anything else is set

  config::TrafficClass apply(const config::TrafficClass& in_force,
                             const config::TrafficClass& configured) const {
    config::TrafficClass next = as_configured ? configured : in_force;
    next.weight = weight.value_or(next.weight);
    next.guaranteed = guaranteed.value_or(next.guaranteed);
    next.maximum = maximum.value_or(next.maximum);
    return next;
  }
};

}  // namespace satrelay::gateway
