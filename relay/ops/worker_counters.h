// What one worker of several has taken, and given to others.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::ops {

struct WorkerCounters {
  std::uint64_t frames = 0;
  std::uint64_t given = 0, given_dropped = 0, taken = 0;
  std::uint64_t fragments_dropped = 0;

  static constexpr std::array<CounterField<WorkerCounters>, 5> kFields{{
      {"frames", &WorkerCounters::frames, "received by its queues"},
      {"given", &WorkerCounters::given, "given to another worker, whose flow it is"},
      {"given_dropped", &WorkerCounters::given_dropped, "dropped: the other worker is behind"},
      {"taken", &WorkerCounters::taken, "taken from other workers"},
      {"fragments_dropped", &WorkerCounters::fragments_dropped,
       "fragments of TCP whose first one has not come in time"},
  }};
};
static_assert(lists_every_counter<WorkerCounters>());

}  // namespace satrelay::ops
