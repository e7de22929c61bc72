// Measures the heap memory that a gateway's engine allocates during its calls. Memory outside the
// arena must be bounded as well.
#pragma once

#include <cstdint>

#include "relay/sim/node/gateway_node.h"

namespace satrelay::satlab {

// The program must link heap_probe.cc, which replaces operator new and delete. The balance leaves
// out memory that was allocated before the probe was set, but the release of that memory is
// subtracted.
class HeapProbe final : public sim::EngineProbe {
 public:
  void enter(gateway::Gateway& engine, Instant now) override;
  void leave() override;
  std::int64_t in_use() const { return in_use_; }
  std::int64_t most() const { return most_; }

 private:
  // Bytes allocated minus bytes released since the probe was set. Each allocation counts with the
  // size that malloc gave it.
  std::int64_t in_use_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace satrelay::satlab
