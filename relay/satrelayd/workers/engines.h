// The engines of all workers of one gateway as if they were one: what is asked is summed up or put
// together, what is said is said to each. To be used only while no other thread uses an engine
// (WorkerPool::Rest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "relay/gateway/gateway.h"

namespace satrelay::satrelayd {

class Engines {
 public:
  // By worker; at least one. All must outlive it.
  explicit Engines(std::vector<gateway::Gateway*> engines) : engines_(std::move(engines)) {}

  gateway::Gateway& operator[](std::size_t worker) const { return *engines_[worker]; }
  std::size_t size() const { return engines_.size(); }

  // As those of gateway::Gateway. They contradict each other nowhere: all have one configuration.
  gateway::CapacityResult set_capacity(std::string_view link, gateway::LinkWay way,
                                       BitRate capacity, Instant now);
  bool set_peer_rate(std::string_view peer, BitRate most, Instant now);
  gateway::ClassResult set_class(std::string_view name, const gateway::ClassChange& change,
                                 Instant now);
  gateway::Gateway::SetResult set_rule(std::string_view rule, const gateway::RuleChange& change);
  void reconfigure(const config::Gateway& next, Instant now, const gateway::Prepared& prepared);
  void set_admission(gateway::Admission admission, Instant now);
  void shut_down(Instant now);
  bool has_final_segments() const;

  gateway::Admission admission(Instant now) const { return engines_[0]->status(now).admission; }
  std::size_t unfinished_flows() const;
  Duration longest_round_trip() const;  // to any peer
  // Numbers of flows count through the workers.
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count, Instant now) const;
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id, Instant now) const;
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const;
  std::vector<gateway::ClassSnapshot> classes() const;
  // Of all, newest first.
  std::vector<gateway::BridgedSnapshot> bridged(Instant now) const;
  // By the first engine: which one would have the connection depends on the client's port.
  gateway::Explanation explain(const gateway::PolicyKey& asked, Instant now) const;

 private:
  // Says the same to all; what the first one answers.
  template <typename Say>
  auto to_all(Say say);

  std::vector<gateway::Gateway*> engines_;
};

}  // namespace satrelay::satrelayd
