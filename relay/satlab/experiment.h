// One run of the laboratory as a set of values: the simulated network, the changes to its link, and
// the length and sampling of the run. An experiment is either read from YAML (scenario_file.h) or
// built in code from the conditions of a paper.
//
// Times count from the run's zero. The simulation starts `warm_up` before zero, so that the session
// between the two gateways exists at zero.
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

// Size of a transfer that never ends within a run.
inline constexpr std::uint64_t kUnlimited = std::uint64_t{1} << 50;

using Ways = config::LinkWays;
constexpr bool includes(Ways ways, sim::Side from) {
  return ways == Ways::kBoth || (ways == Ways::kAToB) == (from == sim::Side::kA);
}

// Whether the sending gateway learns a new rate at once, as if its modem or operator had announced
// the rate.
enum class Announced : std::uint8_t { kNo, kYes };

// A change of the link. Members that are nullopt leave the link as it is.
struct LinkChange {
  Duration at;
  Ways ways = Ways::kBoth;
  std::optional<BitRate> rate = std::nullopt;
  std::optional<Duration> delay = std::nullopt;
  std::optional<double> loss = std::nullopt;
  // True if an outage begins, false if it ends. An outage always affects both directions.
  std::optional<bool> outage = std::nullopt;
  Announced announced = Announced::kNo;
};

struct FlowGroup {
  std::string name;
  std::size_t first = 0;  // index of the group's first flow in the scenario
  std::size_t count = 0;
};

enum class Until : std::uint8_t {
  // The run ends when all flows are over, or after the duration, whichever comes first.
  kFlowsOver,
  kDuration,
};

struct Experiment {
  std::string name;
  sim::Scenario scenario;  // the start times of the flows count from the start of the warm-up
  std::vector<FlowGroup> groups;
  std::vector<LinkChange> changes;  // changes of the link, in order of time
  Duration warm_up = Duration::seconds(5);
  Duration duration = Duration::seconds(60);
  Duration sampling = Duration::milliseconds(100);
  Until until = Until::kFlowsOver;

  Instant zero() const { return Instant() + warm_up; }
};

// Appends a group of `count` flows to the scenario. Each flow starts `spacing` after the previous
// flow. The client sends `upload` bytes as soon as it is connected. The server sends `download`
// bytes as soon as it has accepted the connection.
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

// Returns a warm-up that is long enough for the gateways' handshake over this link, even if HELLOs
// are lost.
Duration warm_up_for(const sim::Scenario& scenario);

}  // namespace satrelay::satlab
