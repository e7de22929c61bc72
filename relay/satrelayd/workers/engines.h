// Makes the engines of all workers of a gateway look like one engine: passes commands to each
// engine, and adds up or joins the answers. Use this only while no other thread uses an engine
// (WorkerPool::Pause).
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
  // `engines` has the engine of each worker, and at least one. All must outlive this object.
  explicit Engines(std::vector<gateway::Gateway*> engines) : engines_(std::move(engines)) {}

  gateway::Gateway& operator[](std::size_t worker) const { return *engines_[worker]; }
  std::size_t size() const { return engines_.size(); }

  // These call the functions of the same names in gateway::Gateway. All engines give the same
  // answer, since they have the same configuration.
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
  Duration longest_round_trip() const;  // the longest round trip to any peer, over all workers
  // `first` is a position in the list of all workers' flows, in the order of the workers. The id of
  // a flow includes the number of its worker.
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count, Instant now) const;
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id, Instant now) const;
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const;
  std::vector<gateway::ClassSnapshot> classes() const;
  // Returns the connections of all workers, the newest first.
  std::vector<gateway::BridgedSnapshot> bridged(Instant now) const;
  // Only the first engine answers. `asked` does not determine the worker, since the worker of a
  // connection also depends on the client's port.
  gateway::Explanation explain(const gateway::PolicyKey& asked, Instant now) const;

 private:
  // Calls `say` for all engines, and returns the answer of the first engine.
  template <typename Say>
  auto to_all(Say say);

  std::vector<gateway::Gateway*> engines_;
};

}  // namespace satrelay::satrelayd
