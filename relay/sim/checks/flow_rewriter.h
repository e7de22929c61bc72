// Serializes flows of a gateway into images, destroys the flows, and restores them from the images.
// This must not change the frames on the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pep/base/random.h"
#include "pep/base/time.h"
#include "relay/gateway/gateway.h"
#include "relay/sim/node/engine_work.h"

namespace satrelay::sim {

class FlowRewriter final : public EngineProbe {
 public:
  // Rewrites a flow before every `interval`-th engine call in which the gateway has flows. A
  // generator with seed `seed` chooses the flow.
  FlowRewriter(unsigned interval, std::uint64_t seed) : interval_(interval), random_(seed) {}

  void enter(gateway::Gateway& engine, Instant now) override;
  void leave() override {}

  std::uint64_t rewrites() const { return rewrites_; }
  // Describes each image that could not be read. After the first such fault, no flow is rewritten.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  unsigned interval_;
  Random random_;
  unsigned calls_ = 0;  // calls since a flow was last rewritten
  std::uint64_t rewrites_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace satrelay::sim
