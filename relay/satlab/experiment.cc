#include "relay/satlab/experiment.h"

#include <algorithm>

#include "relay/sim/scenarios/plans.h"

namespace satrelay::satlab {

namespace {

// Returns the names of all congestion controls that the station's hosts use, without repetitions.
std::string congestion_of(const sim::Station& station) {
  std::string names;
  for (const auto one : {control::Congestion::kCubic, control::Congestion::kNewReno}) {
    const bool used = std::ranges::any_of(
        station.hosts, [&](const sim::HostSpec& host) { return host.tcp.congestion == one; });
    if (used) names += (names.empty() ? "" : " and ") + std::string(sim::name_of(one));
  }
  return names;
}

}  // namespace

std::string congestion_of(const sim::Scenario& scenario) {
  const std::string a = congestion_of(scenario.station(sim::Side::kA));
  const std::string b = congestion_of(scenario.station(sim::Side::kB));
  return a == b ? a : a + " at a, " + b + " at b";
}

Duration warm_up_for(const sim::Scenario& scenario) {
  const Duration round_trip = scenario.a_to_b.delay + scenario.b_to_a.delay;
  return std::max(Duration::seconds(5), round_trip * 6);
}

namespace {

// Gives the host enough memory for the buffers of all its connections, as a real host has. The
// simulation allocates only memory that is used.
void make_room(sim::HostSpec& host, std::size_t flows) {
  constexpr std::size_t kMost = std::size_t{4} << 30;
  host.memory =
      std::min(kMost, host.memory + flows * (host.tcp.send_limit + host.tcp.receive_limit));
}

}  // namespace

void add_flows(Experiment& experiment, const FlowRequest& request) {
  sim::Scenario& scenario = experiment.scenario;
  experiment.groups.push_back({request.name, scenario.flows.size(), request.count});
  sim::Plan client = sim::sender(request.upload);
  sim::Plan server = sim::sender(request.download);
  // A side that sends nothing closes last, so that the connection lives until the transfer is over.
  if (request.upload == 0) client.finish = sim::Finish::kWhenPeerFinished;
  if (request.download == 0) server.finish = sim::Finish::kWhenPeerFinished;
  for (std::size_t i = 0; i < request.count; ++i) {
    sim::FlowSpec& flow =
        sim::add_flow(scenario, request.client_side, client, server, request.content);
    flow.client_host = request.client_host;
    flow.server_host = request.server_host;
    flow.start = experiment.zero() + request.start + request.spacing * static_cast<std::int64_t>(i);
  }
  make_room(scenario.station(request.client_side).hosts[request.client_host], request.count);
  make_room(scenario.station(sim::opposite(request.client_side)).hosts[request.server_host],
            request.count);
}

}  // namespace satrelay::satlab
