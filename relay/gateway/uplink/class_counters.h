// Counts of the traffic that was sent in a class.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"
#include "pep/base/histogram.h"

namespace satrelay::gateway {

// Traffic towards the links. relayed_bytes and bridged_bytes include the overhead of the link.
struct ClassUse {
  std::uint64_t relayed_bytes = 0;
  std::uint64_t bridged_frames = 0, bridged_bytes = 0;
  std::uint64_t waited_frames = 0, dropped_frames = 0;
  std::uint64_t plain_bytes = 0, encoded_bytes = 0;

  static constexpr std::array<CounterField<ClassUse>, 7> kFields{{
      {"relayed_bytes", &ClassUse::relayed_bytes,
       "packets to peers, divided among the classes of their bytes", CounterUnit::kBytes},
      {"bridged_frames", &ClassUse::bridged_frames, "frames bridged from LAN to WAN"},
      {"bridged_bytes", &ClassUse::bridged_bytes, "frames bridged from LAN to WAN",
       CounterUnit::kBytes},
      {"waited_frames", &ClassUse::waited_frames, "bridged frames that had to wait"},
      {"dropped_frames", &ClassUse::dropped_frames,
       "bridged frames dropped: the queue was full, or they waited too long"},
      {"plain_bytes", &ClassUse::plain_bytes, "bytes of hosts that were relayed to peers",
       CounterUnit::kBytes},
      {"encoded_bytes", &ClassUse::encoded_bytes, "plain_bytes after compression",
       CounterUnit::kBytes},
  }};
};
static_assert(lists_every_counter<ClassUse>());

// Bounds of histograms for the time that traffic waits in the gateway before a link has room.
inline constexpr std::array<std::uint64_t, 15> kQueueWaitBounds = {
    100,    250,     500,     1'000,   2'500,     5'000,     10'000,    25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 10'000'000};
inline constexpr HistogramField kRelayedWait = {
    .name = "class_relayed_wait_us",
    .label = "class",
    .help = "wait of hosts' bytes for the link, measured for one byte at a time of each flow",
    .unit = CounterUnit::kMicroseconds,
    .bounds = kQueueWaitBounds};
inline constexpr HistogramField kBridgedWait = {
    .name = "class_bridged_wait_us",
    .label = "class",
    .help = "wait of bridged frames for the link, 0 for frames sent at once",
    .unit = CounterUnit::kMicroseconds,
    .bounds = kQueueWaitBounds};

}  // namespace satrelay::gateway
