// State that all parts of one endpoint need. The parts get it as an argument of their calls, and
// keep no reference to it. Common holds the state that many endpoints share.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "pep/base/arena.h"
#include "pep/base/image/image.h"
#include "pep/tcp/counters.h"
#include "pep/tcp/timers.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// `counters` and `arena` must outlive all endpoints.
struct Common {
  Profile profile;
  Counters& counters;
  Arena& arena;
};

struct Environment {
  std::shared_ptr<const Common> common;
  Timers timers = {};
  std::uint16_t mss = 0;  // the MSS that we announce
  // Number of arena blocks that only in-order data may use (memory_reserve.h).
  std::uint32_t reserve_blocks = 0;

  const Profile& profile() const { return common->profile; }
  Counters& counters() const { return common->counters; }
  Arena& arena() const { return common->arena; }

  void image(Image& image) { image(timers, mss, reserve_blocks); }
};

}  // namespace satrelay::tcp
