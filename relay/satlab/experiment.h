// One run of the laboratory, as values: the simulated network, the changes to its link, and the
// length and sampling of the run. An experiment is read from YAML (scenario_file.h), or built in
// code from the papers' conditions.
//
// Times count from the run's zero. The simulation begins `warm_up` earlier, so that both gateways
// know each other at zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::satlab {

// A transfer of this size never ends within a run.
inline constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 50;

using Ways = config::LinkWays;
constexpr bool includes(Ways ways, sim::Side from) {
  return ways == Ways::kBoth || (ways == Ways::kAToB) == (from == sim::Side::kA);
}

// Whether the sending gateway learns a new rate at once, as from its modem or operator.
enum class Announced : std::uint8_t { kNo, kYes };

// A change of the link. Members that are nullopt leave the link as it is.
struct LinkChange {
  Duration at;
  Ways ways = Ways::kBoth;
  std::optional<BitRate> rate = std::nullopt;
  std::optional<Duration> delay = std::nullopt;
  std::optional<double> loss = std::nullopt;
  // True: an outage begins; false: it ends; always both ways.
  std::optional<bool> outage = std::nullopt;
  Announced announced = Announced::kNo;
};

struct FlowGroup {
  std::string name;
  std::size_t first = 0;  // index of the group's first flow in the scenario
  std::size_t count = 0;
};

enum class Until : std::uint8_t {
  kFlowsOver,  // the run ends when all flows are over, or after the duration if that is earlier
  kDuration,
};

struct Experiment {
  std::string name;
  sim::Scenario scenario;  // the start times of its flows include `warm_up`
  std::vector<FlowGroup> groups;
  std::vector<LinkChange> changes;  // in order of time
  Duration warm_up = Duration::seconds(5);
  Duration duration = Duration::seconds(60);
  Duration sampling = Duration::milliseconds(100);
  Until until = Until::kFlowsOver;

  Instant zero() const { return Instant() + warm_up; }
};

// A request to append a group of `count` flows, `spacing` apart, to the scenario. The client sends
// `upload` bytes as soon as it is connected. The server sends `download` bytes as soon as it has
// accepted the connection.
struct FlowRequest {
  std::string name = {};
  sim::Side client_side = sim::Side::kA;
  std::size_t client_host = 0;
  std::size_t server_host = 0;
  std::uint64_t upload = 0;
  std::uint64_t download = 0;
  Duration start = Duration::zero();
  std::size_t count = 1;
  Duration spacing = Duration::zero();
  sim::Content content = sim::Content::kRandom;
};
void add_flows(Experiment& experiment, const FlowRequest& request);

// Returns the congestion control of the scenario's hosts: "cubic", or "cubic at a, newreno at b".
// Every report of a run includes this text.
std::string congestion_of(const sim::Scenario& scenario);

// Returns a warm-up in which the gateways can complete their handshake over this link, even if
// HELLOs are lost.
Duration warm_up_for(const sim::Scenario& scenario);

}  // namespace satrelay::satlab
