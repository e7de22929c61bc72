// What was sent in a class of traffic.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"

namespace satrelay::gateway {

// Towards the links, frames and packets as the modem counts them.
struct ClassUse {
  std::uint64_t relayed_bytes = 0;
  std::uint64_t bridged_frames = 0, bridged_bytes = 0;
  std::uint64_t waited_frames = 0, dropped_frames = 0;

  static constexpr std::array<CounterField<ClassUse>, 5> kFields{{
      {"relayed_bytes", &ClassUse::relayed_bytes,
       "packets to peers, shared among the classes of what is in them", CounterUnit::kBytes},
      {"bridged_frames", &ClassUse::bridged_frames, "bridged from LAN to WAN"},
      {"bridged_bytes", &ClassUse::bridged_bytes, "bridged from LAN to WAN", CounterUnit::kBytes},
      {"waited_frames", &ClassUse::waited_frames, "bridged frames that had to wait"},
      {"dropped_frames", &ClassUse::dropped_frames, "bridged frames that found no room to wait"},
  }};
};
static_assert(lists_every_counter<ClassUse>());

}  // namespace satrelay::gateway
