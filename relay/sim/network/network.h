// The whole network, built from a scenario and run in virtual time: hosts - LAN - gateway A -
// satellite - gateway B - LAN - hosts.
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
  SocketPair pair;  // as the client sees it
  Outcome client;
  Outcome server;
  std::uint32_t repeated_opens = 0;  // SYNs at the server after it accepted the connection
  std::uint64_t crossed_raw = 0;     // the flow's frames on the link that STP did not carry
  std::uint64_t lost_raw = 0;        // of these, frames that the link lost as they entered

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
  // False if there is no gateway, or it was killed.
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

  // Adds a flow to the scenario's flows, for tests that decide during the run.
  std::size_t open(const FlowSpec& flow);
  // Starts a flow that is over or was never started. Its earlier results are forgotten.
  void reopen(std::size_t index);
  // Runs until both gateways consider each other alive. False if they do not by `limit`.
  bool run_until_peers_alive(Instant limit);
  // Runs until every flow is over. False if some are not by `limit`.
  bool run_until_flows_over(Instant limit);
  // Runs until hosts and gateways have forgotten all flows. False if they have not by `limit`.
  bool run_until_drained(Instant limit);
  // Stops the gateways, lets the frames in flight arrive, and returns how many frames are still
  // held.
  std::size_t frames_left_over();
  void run_for(Duration duration) { loop_.run_until(loop_.now() + duration); }

  // The sum of a counter over both gateways, earlier runs included.
  std::uint64_t counted(gateway::Counter counter);
  // TCP frames that gateways bridged.
  std::uint64_t bridged_tcp();

  // SYNs at honest hosts in the name of a host that sent none. No attacker may make a gateway send
  // one.
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
  // Both addresses of each host of a side, IPv4 first.
  std::vector<KnownConnection> hosts_of(Side side) const;
  KnownHosts known_hosts() const;
  void let_in_forger(const Forging& spec);
  void bait_hostile_peer();
  std::optional<SimHost::Reception> receive_stranger(const SocketPair& at_server);
  void start_flow(std::size_t index);
  // The flow of a TCP frame; nullptr if the frame belongs to no flow.
  FlowResult* flow_of(ConstBytes frame);
  std::optional<SimHost::Reception> receive(const SocketPair& at_server);
  bool drained();

  Scenario scenario_;
  Tracer* tracer_;
  EventLoop loop_;
  FramePool frames_;
  std::deque<FlowResult> flows_;   // addresses stay valid; must outlive the hosts below
  std::deque<Outcome> strangers_;  // connections with hostile hosts; the same holds
  std::vector<FlowSpec> specs_;
  std::unordered_map<SocketPair, std::size_t, SocketPairHash> by_server_pair_;
  std::unique_ptr<SatelliteLink> satellite_;
  std::unique_ptr<SimLan> lans_[2];
  std::unique_ptr<GatewayNode> gateways_[2];
  bool stopped_ = false;  // whether restarts of gateways are ignored
  std::vector<std::unique_ptr<SimHost>> hosts_[2];
  std::unique_ptr<HostileTerminal> hostile_;
  std::unique_ptr<WanJunction> junction_;
  std::vector<std::unique_ptr<SimHost>> attackers_;
  std::vector<std::unique_ptr<Forger>> forgers_;
  std::uint64_t impostors_ = 0;
  std::uint16_t next_port_ = 20'000;
  std::size_t first_open_ = 0;  // all flows before this one are over
};

}  // namespace satrelay::sim
