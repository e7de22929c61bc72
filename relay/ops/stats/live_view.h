// Data that is read from the engine on request, since copying all of it ten times a second would
// cost too much. Only the worker's thread may call these functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "relay/gateway/rules/explanation.h"
#include "relay/gateway/snapshot.h"

namespace satrelay::ops {

class LiveView {
 public:
  virtual ~LiveView() = default;
  virtual std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const = 0;
  virtual std::optional<gateway::FlowSnapshot> flow(std::uint64_t id) const = 0;
  virtual std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const = 0;
  // Returns all entries at once, since there are always few.
  virtual std::vector<gateway::ClassSnapshot> classes() const = 0;
  // Returns all entries at once, since there are always few.
  virtual std::vector<gateway::BridgedSnapshot> bridged() const = 0;
  virtual gateway::Explanation explain(const gateway::PolicyKey& key) const = 0;
};

}  // namespace satrelay::ops
