// Counts what a gateway takes from the heap, call by call: what is outside the arena must have a
// bound of its own.
#pragma once

#include <cstdint>

#include "relay/sim/network/gateway_node.h"

namespace satrelay::satlab {

// Its program replaces operator new and delete (heap_probe.cc). What was allocated before the probe
// was there is not counted until it is freed.
class HeapProbe final : public sim::EngineProbe {
 public:
  void enter() override;
  void leave() override;
  std::int64_t in_use() const { return in_use_; }
  std::int64_t most() const { return most_; }

 private:
  std::int64_t in_use_ = 0;  // bytes since the probe was set, as malloc rounds them
  std::int64_t most_ = 0;
};

}  // namespace satrelay::satlab
