// Counters of one direction of a link.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"
#include "relay/link/frame_queue.h"

namespace satrelay::link {

struct DirectionCounters {
  std::uint64_t frames_in = 0, bytes_in = 0;
  std::uint64_t frames_out = 0, bytes_out = 0;
  std::uint64_t bytes_carried = 0;
  std::uint64_t dropped_queue = 0, dropped_mtu = 0, dropped_loss = 0, dropped_outage = 0;
  std::uint64_t dropped_memory = 0;
  std::uint64_t corrupted = 0, duplicated = 0, reordered = 0;
  std::uint64_t queue_full_high = 0, queue_full_low = 0;  // parts of dropped_queue
  std::uint64_t queue_full_start_high = 0, queue_full_start_low = 0;
  std::uint64_t queue_bytes = 0;

  static constexpr std::array<CounterField<DirectionCounters>, 18> kFields{{
      {"frames_in", &DirectionCounters::frames_in, "frames offered to the link"},
      {"bytes_in", &DirectionCounters::bytes_in, "bytes offered to the link, without FCS",
       CounterUnit::kBytes},
      {"frames_out", &DirectionCounters::frames_out, "frames delivered at the other end"},
      {"bytes_out", &DirectionCounters::bytes_out, "bytes delivered at the other end, without FCS",
       CounterUnit::kBytes},
      {"bytes_carried", &DirectionCounters::bytes_carried,
       "bytes sent over the link with overhead, lost ones included", CounterUnit::kBytes},
      {"dropped_queue", &DirectionCounters::dropped_queue, "frames dropped: the queue was full"},
      {"dropped_mtu", &DirectionCounters::dropped_mtu, "frames dropped: longer than the MTU"},
      {"dropped_loss", &DirectionCounters::dropped_loss, "frames dropped by the loss model"},
      {"dropped_outage", &DirectionCounters::dropped_outage, "frames dropped by an outage"},
      {"dropped_memory", &DirectionCounters::dropped_memory,
       "frames dropped: no room for frames in flight"},
      {"corrupted", &DirectionCounters::corrupted, "frames delivered with a flipped bit"},
      {"duplicated", &DirectionCounters::duplicated, "frames delivered twice"},
      {"reordered", &DirectionCounters::reordered, "frames delivered late"},
      {"queue_full_high", &DirectionCounters::queue_full_high,
       "part of dropped_queue: high priority"},
      {"queue_full_low", &DirectionCounters::queue_full_low, "part of dropped_queue: low priority"},
      {"queue_full_start_high", &DirectionCounters::queue_full_start_high,
       "part of dropped_queue: high priority at the start"},
      {"queue_full_start_low", &DirectionCounters::queue_full_start_low,
       "part of dropped_queue: low priority at the start"},
      {"queue_bytes", &DirectionCounters::queue_bytes, "bytes that wait to be sent, with overhead",
       CounterUnit::kBytes, CounterKind::kGauge},
  }};

  // The parts of dropped_queue, by priority, beginning with priority 0.
  static constexpr std::array<std::uint64_t DirectionCounters::*, kPriorities> kQueueFull{
      &DirectionCounters::queue_full_high, &DirectionCounters::queue_full_low,
      &DirectionCounters::queue_full_start_high, &DirectionCounters::queue_full_start_low};
};
static_assert(lists_every_counter<DirectionCounters>());

}  // namespace satrelay::link
