// Counts the heap memory that the calls of a gateway's engine allocate, since memory outside the
// arena must be bounded as well.
#pragma once

#include <cstdint>

#include "relay/sim/node/gateway_node.h"

namespace satrelay::satlab {

// The program must link heap_probe.cc, which replaces operator new and delete. Memory that was
// allocated before the probe was set is not counted, but its release is.
class HeapProbe final : public sim::EngineProbe {
 public:
  void enter(gateway::Gateway& engine, Instant now) override;
  void leave() override;
  std::int64_t in_use() const { return in_use_; }
  std::int64_t most() const { return most_; }

 private:
  // Bytes allocated minus released since the probe was set, as malloc rounds them.
  std::int64_t in_use_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace satrelay::satlab
