// Measures the calls of an engine: how many objects a call visits, and how much work it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pep/base/time.h"
#include "relay/gateway/gateway.h"

namespace satrelay::sim {

// Called before and after each call of the engine, to count or time the work of the call. enter()
// may also change the engine before the call.
class EngineProbe {
 public:
  virtual ~EngineProbe() = default;
  virtual void enter(gateway::Gateway& engine, Instant now) = 0;
  virtual void leave() = 0;
};

class EngineWork {
 public:
  void set_probe(EngineProbe* probe) { probe_ = probe; }
  // Makes one call of the engine at `now`. The call handles `frames` frames.
  template <typename Call>
  auto watched(gateway::Gateway& engine, std::size_t frames, Instant now, Call call) {
    if (probe_ != nullptr) probe_->enter(engine, now);
    const std::uint64_t visited_before = engine.visited();
    const Work worked_before = engine.worked();
    const auto result = call();
    if (probe_ != nullptr) probe_->leave();
    const std::uint64_t visited = engine.visited() - visited_before;
    most_visited_ = std::max(most_visited_, (visited + frames - 1) / frames);
    most_worked_ = std::max(most_worked_, engine.worked() - worked_before);
    return result;
  }
  // The largest number of visited objects per frame of any call.
  std::uint64_t most_visited() const { return most_visited_; }
  Work most_worked() const { return most_worked_; }

 private:
  EngineProbe* probe_ = nullptr;
  std::uint64_t most_visited_ = 0;
  Work most_worked_ = 0;
};

}  // namespace satrelay::sim
