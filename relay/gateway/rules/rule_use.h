// One rule as it is in force, and what fell under it. Flows hold on to theirs: it outlives a reload
// that takes it out of the configuration.
#pragma once

#include <cstdint>
#include <memory>

#include "config/schema.h"
#include "pep/compress/block_codec.h"
#include "pep/stp/streams/stream_class.h"

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
  // Of what it relays and of what it bridges (traffic_classes.h).
  stp::ClassId relayed_class = 0;
  stp::ClassId bridged_class = 0;
  RuleUse use;
};
using RulePtr = std::shared_ptr<ActiveRule>;

}  // namespace satrelay::gateway
