// Whether there is room for one more flow, which the relay knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "relay/gateway/counters.h"

namespace satrelay::gateway {

class RoomForFlows {
 public:
  virtual ~RoomForFlows() = default;
  // Why one more flow towards the peer finds no room; nullopt if it does.
  virtual std::optional<Counter> lack_of_room(std::size_t peer) const = 0;
  virtual std::size_t free_slots() const = 0;
  virtual std::uint32_t half_open() const = 0;  // flows whose host has not answered yet
};

}  // namespace satrelay::gateway
