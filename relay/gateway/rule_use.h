// One rule as it is in force, and what fell under it. Flows hold on to theirs: it outlives a reload
// that takes it out of the configuration.
#pragma once

#include <cstdint>
#include <memory>

#include "config/schema.h"
#include "pep/compress/block_codec.h"

namespace satrelay::gateway {

struct RuleUse {
  std::uint64_t connections = 0;     // opened in this direction, whatever became of them
  std::uint64_t bytes_from_lan = 0;  // relayed, plain
  std::uint64_t bytes_to_lan = 0;
  std::uint64_t bridged_frames = 0;
  std::uint64_t bridged_bytes = 0;  // frames from the Ethernet header on
  std::uint64_t dropped_frames = 0;
  compress::CodecCounters codec;
};

struct ActiveRule {
  std::uint32_t number = 0;  // its place in the configuration, from 1; 0: no rule matched
  config::Rule rule;
  config::Rule configured;  // differs where the operator has set something since
  RuleUse use;
};
using RulePtr = std::shared_ptr<ActiveRule>;

}  // namespace satrelay::gateway
