// Takes flows out of gateways as images, destroys them, and reads them back. No frame may show it.
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
  // Before every `interval`-th call of a gateway with flows, rewrites one of the flows. `seed`
  // chooses it.
  FlowRewriter(unsigned interval, std::uint64_t seed) : interval_(interval), random_(seed) {}

  void enter(gateway::Gateway& engine, Instant now) override;
  void leave() override {}

  std::uint64_t rewrites() const { return rewrites_; }
  // The faults of the images, in words. After a fault no flow is rewritten.
  const std::vector<std::string>& broken() const { return broken_; }

 private:
  unsigned interval_;
  Random random_;
  unsigned calls_ = 0;  // since the last rewriting
  std::uint64_t rewrites_ = 0;
  std::vector<std::string> broken_;
};

}  // namespace satrelay::sim
