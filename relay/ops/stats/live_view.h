// Data that is looked up in the engine on request, since it is too much to copy ten times a second.
// Only the worker's thread may call these functions.
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
  virtual std::vector<gateway::ClassSnapshot> classes() const = 0;    // never many
  virtual std::vector<gateway::BridgedSnapshot> bridged() const = 0;  // never many
  virtual gateway::Explanation explain(const gateway::PolicyKey& key) const = 0;
};

}  // namespace satrelay::ops
