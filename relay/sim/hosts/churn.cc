#include "relay/sim/hosts/churn.h"

#include <algorithm>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"

namespace satrelay::sim {
namespace {

using gateway::Counter;

constexpr std::size_t kHosts = 8;    // hosts on each side
constexpr std::size_t kSlots = 256;  // connections at a time
constexpr Duration kLook = Duration::milliseconds(10);
constexpr Duration kQuiet = Duration::seconds(60);
// How often the event loop may run per second while two gateways are idle.
constexpr std::uint64_t kQuietRunsASecond = 100;
constexpr std::size_t kMostDiagnostics = 20;

// Each slot's kind decides how the connection ends. The server always accepts the connection.
FlowSpec flow_of(std::size_t slot) {
  constexpr std::uint16_t kPorts[] = {80, 81, 82, 22};  // each port has its own rule
  FlowSpec flow;
  const std::uint64_t size = 1 + slot * slot % 3'000;
  switch (slot % 8) {
    case 0:  // the client closes last
      flow.client_plan = requester(100);
      flow.server_plan = responder(100, size);
      break;
    case 1:  // the client closes first
      flow.client_plan = sender(size);
      flow.server_plan = receiver();
      break;
    case 2:  // both close at once
      flow.client_plan = sender(size);
      flow.server_plan = sender(size);
      break;
    case 3:  // the server sends first
      flow.client_plan = sender(10);
      flow.client_plan.send_after = 20;
      flow.server_plan = greeter(20);
      break;
    case 4:  // the client half-closes first
      flow.client_plan = sender(size);
      flow.server_plan = half_close_user(size);
      break;
    case 5:  // the client sends a RST
      flow.client_plan = resetter_after_receiving(size);
      flow.server_plan = sender(size);
      break;
    case 6:  // the server sends a RST
      flow.client_plan = sender(size);
      flow.client_plan.finish = Finish::kWhenPeerFinished;
      flow.server_plan = resetter_after_receiving(size);
      break;
    default:  // no bytes at all
      flow.client_plan = sender(0);
      flow.server_plan = receiver();
      break;
  }
  flow.client_side = slot / 8 % 2 == 0 ? Side::kA : Side::kB;
  flow.client_host = flow.server_host = slot / 16 % kHosts;
  flow.server_port = kPorts[slot / 128 % 2 + slot % 16 / 8 * 2];
  flow.version = slot % 3 == 0 ? IpVersion::kV6 : IpVersion::kV4;
  flow.client_port = static_cast<std::uint16_t>(20'000 + slot);
  return flow;
}

Scenario scenario_of(std::uint64_t seed) {
  LinkSpec link;
  link.rate = BitRate::bits_per_second(1'000'000'000);
  link.one_way_delay = Duration::milliseconds(5);
  link.loss = 0.001;
  Scenario scenario = make_lab(seed, link, kHosts);
  for (Station& station : scenario.stations) {
    station.limits.flows = 1024;
    station.limits.half_open = kSlots;
    station.limits.memory = ByteCount(32 << 20);
  }
  config::Rule bridged, remote, confirmed;
  bridged.match.port = {{22, 22}};
  bridged.action = config::Action::kBridge;
  remote.match.port = {{81, 81}};
  remote.modes = {.handshake = config::HandshakeMode::kRemote, .ack = config::AckMode::kEndToEnd};
  confirmed.match.port = {{82, 82}};
  confirmed.modes.close = config::CloseMode::kConfirmed;
  scenario.rules = {bridged, remote, confirmed, {}};
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const FlowSpec flow = flow_of(slot);
    // Each slot uses two flow records in turn, since a host may still use the record of the slot's
    // previous connection.
    for (int turn = 0; turn < 2; ++turn) {
      FlowSpec& added =
          add_flow(scenario, flow.client_side, flow.client_plan, flow.server_plan, Content::kMixed);
      const Plan client = added.client_plan, server = added.server_plan;
      added = flow;
      added.client_plan = client;
      added.server_plan = server;
      added.start = Instant::never();
    }
  }
  return scenario;
}

class Churn {
 public:
  explicit Churn(std::uint64_t seed) : network_(scenario_of(seed), tracer_) {}

  ChurnReport run(std::uint64_t flows, const std::function<bool(std::uint64_t)>& goes_on) {
    network_.run_until_peers_alive(Instant() + Duration::seconds(10));
    for (std::size_t slot = 0; slot < kSlots; ++slot) network_.reopen(2 * slot);
    std::uint64_t begun = kSlots;
    while (report_.flows < flows && goes_on(report_.flows) &&
           report_.broken.size() < kMostDiagnostics) {
      network_.run_for(kLook);
      note_tables();
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        const std::size_t index = 2 * slot + turn_[slot];
        if (!network_.flow(index).over() || done_[slot]) continue;
        note(check_flow(network_, index));
        ++report_.flows;
        done_[slot] = begun >= flows;
        if (done_[slot]) continue;
        ++begun;
        turn_[slot] ^= 1U;
        network_.reopen(2 * slot + turn_[slot]);
      }
      if (network_.loop().now() > last_progress_ + Duration::seconds(2'000)) {
        report_.broken.emplace_back("it does not go on");
      }
    }
    finish();
    return report_;
  }

 private:
  void note(const std::vector<std::string>& broken) {
    report_.broken.insert(report_.broken.end(), broken.begin(), broken.end());
  }
  void note_tables() {
    if (report_.flows != last_flows_) last_progress_ = network_.loop().now();
    last_flows_ = report_.flows;
    for (const Side side : {Side::kA, Side::kB}) {
      const gateway::Gateway& engine = network_.gateway(side).engine();
      report_.most_in_a_table = std::max(report_.most_in_a_table, engine.flow_count());
      report_.most_arena =
          std::max(report_.most_arena, engine.status(network_.loop().now()).arena_used);
    }
  }
  // Checks that tables, arenas, hosts, timers and frames are in the same state as at the beginning.
  void finish() {
    report_.virtual_time = network_.loop().now() - Instant();
    if (!network_.run_until_drained(network_.loop().now() + Duration::seconds(200))) {
      report_.broken.emplace_back("something is left");
    }
    note(check_memory(network_));
    // A new connection replaces a flow of the same 4-tuple in TIME-WAIT, so a table has each
    // 4-tuple only once.
    if (report_.most_in_a_table > kSlots) {
      report_.broken.emplace_back("more flows in a table than connections");
    }
    for (const Counter counter :
         {Counter::kFlowsResetIdle, Counter::kFlowsResetTimeout, Counter::kFlowsResetProtocol,
          Counter::kFlowsResetNoResources, Counter::kFlowsResetPeerLost, Counter::kBridgedTableFull,
          Counter::kBridgedHalfOpenFull, Counter::kBridgedMemoryLow, Counter::kBridgedPeerPart,
          Counter::kBridgedHostPart, Counter::kFlowsRefusedPeerPart,
          Counter::kFlowsRefusedHostPart}) {
      const std::uint64_t count = network_.counted(counter);
      if (count == 0) continue;
      report_.broken.push_back(std::string(gateway::name(counter)) + ": " + std::to_string(count));
    }
    const std::uint64_t before = network_.loop().runs();
    network_.run_for(kQuiet);
    const auto most = kQuietRunsASecond * static_cast<std::uint64_t>(kQuiet.to_seconds());
    if (network_.loop().runs() - before > most) {
      report_.broken.emplace_back("timers of connections that are no more still run");
    }
    note(stop_and_check_frames(network_));
  }

  Tracer tracer_;
  Network network_;
  ChurnReport report_;
  std::size_t turn_[kSlots] = {};
  bool done_[kSlots] = {};
  std::uint64_t last_flows_ = 0;
  Instant last_progress_;
};

}  // namespace

ChurnReport run_churn(std::uint64_t seed, std::uint64_t flows,
                      const std::function<bool(std::uint64_t over)>& goes_on) {
  return Churn(seed).run(std::max<std::uint64_t>(flows, kSlots), goes_on);
}

}  // namespace satrelay::sim
