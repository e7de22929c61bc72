// Settings of a class that an operator may change at run time.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model/schema.h"

namespace satrelay::gateway {

struct ClassChange {
  std::optional<std::uint8_t> weight = {};
  std::optional<BitRate> guaranteed = {};  // zero removes the guarantee
  std::optional<BitRate> maximum = {};     // zero removes the maximum
  bool as_configured = false;  // whether to restore the configured settings before these changes

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
