// What the parts of an endpoint have in common, so that each of them holds one reference; and of it
// what very many endpoints have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "pep/base/arena.h"
#include "pep/tcp/counters.h"
#include "pep/tcp/timers.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// `counters` and `arena` outlive all endpoints.
struct Common {
  Profile profile;
  Counters& counters;
  Arena& arena;
};

struct Environment {
  std::shared_ptr<const Common> common;
  Timers timers = {};
  std::uint16_t mss = 0;             // that we announce
  std::uint32_t reserve_blocks = 0;  // of the arena, for what comes in order (memory_reserve.h)

  const Profile& profile() const { return common->profile; }
  Counters& counters() const { return common->counters; }
  Arena& arena() const { return common->arena; }
};

}  // namespace satrelay::tcp
