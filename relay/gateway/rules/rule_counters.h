// Counts of the traffic that matched a rule.
#pragma once

#include <array>
#include <cstdint>

#include "pep/base/counter_fields.h"
#include "pep/compress/codec_counters.h"

namespace satrelay::gateway {

struct RuleUse {
  std::uint64_t connections = 0;
  std::uint64_t bytes_from_lan = 0, bytes_to_lan = 0;
  std::uint64_t bridged_frames = 0, bridged_bytes = 0;
  std::uint64_t dropped_frames = 0;
  compress::CodecCounters codec;

  static constexpr std::array<CounterField<RuleUse>, 6> kFields{{
      {"connections", &RuleUse::connections, "connections opened, relayed or not"},
      {"from_lan_bytes", &RuleUse::bytes_from_lan, "bytes relayed from the LAN, before compression",
       CounterUnit::kBytes},
      {"to_lan_bytes", &RuleUse::bytes_to_lan, "bytes relayed to the LAN, before compression",
       CounterUnit::kBytes},
      {"bridged_frames", &RuleUse::bridged_frames, "frames bridged, from both ports"},
      {"bridged_bytes", &RuleUse::bridged_bytes, "bytes bridged, from the Ethernet header on",
       CounterUnit::kBytes},
      {"dropped_frames", &RuleUse::dropped_frames, "frames dropped by the actions drop and reset"},
  }};
};
static_assert(lists_every_counter<RuleUse>(sizeof(RuleUse::codec)));

}  // namespace satrelay::gateway
