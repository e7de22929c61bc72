// The whole network, built from a scenario and run in virtual time: hosts, LAN and gateway A, the
// satellite, then gateway B, LAN and hosts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "relay/sim/adversaries/forger.h"
#include "relay/sim/adversaries/hostile_terminal.h"
#include "relay/sim/checks/trace.h"
#include "relay/sim/hosts/host.h"
#include "relay/sim/network/event_loop.h"
#include "relay/sim/network/frame_pool.h"
#include "relay/sim/network/lan.h"
#include "relay/sim/network/satellite.h"
#include "relay/sim/node/gateway_node.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim {

struct FlowResult {
  SocketPair pair;  // addresses and ports as the client sees them
  Outcome client;
  Outcome server;
  // Number of SYNs that reached the server after it had accepted the connection.
  std::uint32_t repeated_opens = 0;
  // Number of the flow's frames that entered the link unchanged, not within STP packets.
  std::uint64_t crossed_raw = 0;
  std::uint64_t lost_raw = 0;  // number of frames in `crossed_raw` that the link lost on entry

  bool over() const {
    return (client.ended || client.vanished) &&
           (!server.started || server.ended || server.vanished);
  }
};

class Network {
 public:
  Network(const Scenario& scenario, Tracer& tracer);

  EventLoop& loop() { return loop_; }
  FramePool& frames() { return frames_; }
  SatelliteLink& satellite() { return *satellite_; }
  GatewayNode& gateway(Side side) { return *gateways_[static_cast<std::size_t>(side)]; }
  // False if there is no gateway, or if the gateway was stopped.
  bool is_running(Side side) const {
    const auto& node = gateways_[static_cast<std::size_t>(side)];
    return node != nullptr && node->is_running();
  }
  SimLan& lan(Side side) { return *lans_[static_cast<std::size_t>(side)]; }
  SimHost& host(Side side, std::size_t index) {
    return *hosts_[static_cast<std::size_t>(side)][index];
  }
  const Scenario& scenario() const { return scenario_; }
  const FlowResult& flow(std::size_t index) const { return flows_[index]; }
  const FlowSpec& spec(std::size_t index) const { return specs_[index]; }
  std::size_t flow_count() const { return flows_.size(); }

  // Adds a flow to the flows of the scenario, and returns its index. For tests that add flows
  // during the run.
  std::size_t open(const FlowSpec& flow);
  // Starts a flow that is over or was never started. Discards earlier results of the flow.
  void reopen(std::size_t index);
  // Runs until both gateways consider each other alive. Returns false if this takes until `limit`.
  bool run_until_peers_alive(Instant limit);
  // Runs until every flow is over. Returns false if some flows are not over at `limit`.
  bool run_until_flows_over(Instant limit);
  // Runs until the hosts and the gateways have no state of any flow. Returns false if they still
  // have some at `limit`.
  bool run_until_drained(Instant limit);
  // Stops the gateways, and lets the frames in flight arrive. Returns the number of frames that are
  // still in use.
  std::size_t frames_left_over();
  void run_for(Duration duration) { loop_.run_until(loop_.now() + duration); }

  // The sum of a counter over both gateways. Includes runs before a restart.
  std::uint64_t counted(gateway::Counter counter);
  // Number of TCP frames that the gateways bridged. Includes runs before a restart.
  std::uint64_t bridged_tcp();

  // Number of SYNs that reached an honest host although the host in their source address never sent
  // them. No attacker may be able to make a gateway send such a SYN.
  std::uint64_t impostors() const { return impostors_; }

  // The configuration of the gateway of a side.
  config::Gateway gateway_config(Side side) const;

 private:
  void build_station(Side side);
  void introduce_hosts();
  void schedule_faults();
  void vanish(const Vanishing& vanishing);
  void let_in_hostile_peer();
  std::vector<KnownFlow> known_flows() const;
  // Returns the IPv4 address and then the IPv6 address of each host on a side.
  std::vector<KnownConnection> hosts_of(Side side) const;
  KnownHosts known_hosts() const;
  void let_in_forger(const Forging& spec);
  void bait_hostile_peer();
  std::optional<SimHost::Reception> receive_stranger(const SocketPair& at_server);
  void start_flow(std::size_t index);
  // Returns the flow of a TCP frame, or nullptr if the frame belongs to no flow.
  FlowResult* flow_of(ConstBytes frame);
  std::optional<SimHost::Reception> receive(const SocketPair& at_server);
  bool drained();

  Scenario scenario_;
  Tracer* tracer_;
  EventLoop loop_;
  FramePool frames_;
  // A deque, since hosts have pointers to its elements; must outlive the hosts below.
  std::deque<FlowResult> flows_;
  // Outcomes of connections with hostile hosts. Must outlive the hosts below.
  std::deque<Outcome> strangers_;
  std::vector<FlowSpec> specs_;
  std::unordered_map<SocketPair, std::size_t, SocketPairHash> by_server_pair_;
  std::unique_ptr<SatelliteLink> satellite_;
  std::unique_ptr<SimLan> lans_[2];
  std::unique_ptr<GatewayNode> gateways_[2];
  bool stopped_ = false;  // true if the gateways must not be restarted any more
  std::vector<std::unique_ptr<SimHost>> hosts_[2];
  std::unique_ptr<HostileTerminal> hostile_;
  std::unique_ptr<WanJunction> junction_;
  std::vector<std::unique_ptr<SimHost>> attackers_;
  std::vector<std::unique_ptr<Forger>> forgers_;
  std::uint64_t impostors_ = 0;
  std::uint16_t next_port_ = 20'000;
  std::size_t first_open_ = 0;  // index of a flow; all flows with lower indexes are over
};

}  // namespace satrelay::sim
