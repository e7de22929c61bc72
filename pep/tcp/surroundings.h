// What the parts of one endpoint have in common, so that each of them holds one reference.
#pragma once

#include <cstdint>
#include <memory>

#include "pep/base/arena.h"
#include "pep/tcp/counters.h"
#include "pep/tcp/timers.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

struct Surroundings {
  std::shared_ptr<const Profile> profile;
  Counters& counters;
  Arena& arena;
  Timers timers;
  std::uint16_t mss = 0;             // that we announce
  std::uint32_t reserve_blocks = 0;  // of the arena, for what comes in order (memory_reserve.h)
};

}  // namespace satrelay::tcp
