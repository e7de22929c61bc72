// The counters of one worker among several: frames received, taken from other workers, and given to
// them.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"
#include "pep/base/histogram.h"

namespace satrelay::ops {

struct WorkerCounters {
  std::uint64_t frames = 0;
  std::uint64_t given = 0, given_dropped = 0, taken = 0;
  std::uint64_t fragments_dropped = 0;
  std::uint64_t neighbours_not_overheard = 0;
  std::uint64_t records_lost = 0;

  static constexpr std::array<CounterField<WorkerCounters>, 7> kFields{{
      {"frames", &WorkerCounters::frames, "received by its queues"},
      {"given", &WorkerCounters::given, "given to another worker, whose flow it is"},
      {"given_dropped", &WorkerCounters::given_dropped, "dropped: the other worker is behind"},
      {"taken", &WorkerCounters::taken, "taken from other workers"},
      {"fragments_dropped", &WorkerCounters::fragments_dropped,
       "fragments of TCP whose first one has not come in time"},
      {"neighbours_not_overheard", &WorkerCounters::neighbours_not_overheard,
       "ARP and neighbour discovery of the LAN that the other workers have not heard"},
      {"records_lost", &WorkerCounters::records_lost,
       "records of flows lost: their writer is behind"},
  }};
};
static_assert(lists_every_counter<WorkerCounters>());

// Rounds do not include the rests between them, so the sum is the worker's time at work.
inline constexpr std::array<std::uint64_t, 15> kWorkerRoundBounds = {
    1'000,   2'000,     5'000,     10'000,    20'000,     50'000,     100'000,    200'000,
    500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 20'000'000, 100'000'000};
inline constexpr HistogramField kWorkerRound = {
    .name = "worker_round_ns",
    .label = "worker",
    .help = "what one round of the worker took, rests between rounds left out",
    .unit = CounterUnit::kNanoseconds,
    .bounds = kWorkerRoundBounds};

}  // namespace satrelay::ops
