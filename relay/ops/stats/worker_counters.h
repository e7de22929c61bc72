// The counters of one of several workers: frames that it received, took from other workers, and
// gave to other workers.
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
      {"frames", &WorkerCounters::frames, "frames received by its queues"},
      {"given", &WorkerCounters::given, "frames given to the worker that owns their flow"},
      {"given_dropped", &WorkerCounters::given_dropped,
       "frames dropped: the other worker is behind"},
      {"taken", &WorkerCounters::taken, "frames taken from other workers"},
      {"fragments_dropped", &WorkerCounters::fragments_dropped,
       "fragments of TCP dropped: the first fragment did not arrive in time"},
      {"neighbours_not_overheard", &WorkerCounters::neighbours_not_overheard,
       "ARP and neighbour discovery of the LAN that did not reach the other workers"},
      {"records_lost", &WorkerCounters::records_lost,
       "records of flows lost: the writer is behind"},
  }};
};
static_assert(lists_every_counter<WorkerCounters>());

// Upper bounds of the buckets, in nanoseconds. A round does not include the pause after it, so the
// sum of the histogram is the time that the worker was busy.
inline constexpr std::array<std::uint64_t, 15> kWorkerRoundBounds = {
    1'000,   2'000,     5'000,     10'000,    20'000,     50'000,     100'000,    200'000,
    500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 20'000'000, 100'000'000};
inline constexpr HistogramField kWorkerRound = {
    .name = "worker_round_ns",
    .label = "worker",
    .help = "duration of a round of the worker, without the pauses between rounds",
    .unit = CounterUnit::kNanoseconds,
    .bounds = kWorkerRoundBounds};

}  // namespace satrelay::ops
