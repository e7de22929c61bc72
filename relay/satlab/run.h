// Runs an experiment in virtual time and measures it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "relay/link/link_direction.h"
#include "relay/satlab/experiment.h"
#include "relay/sim/checks/recorder.h"

namespace satrelay::satlab {

// One sample of the network. If there are more than kMostFlowsInSeries flows, `network.flows` is
// empty.
struct Sample {
  Duration at;          // time since the run's zero
  sim::Sample network;  // its counters start with the simulation, not at the run's zero
  // Bytes received in order by the hosts of each station.
  std::array<std::uint64_t, 2> host_received{};
};
inline constexpr std::size_t kMostFlowsInSeries = 64;

// Results for one direction of a flow. A direction in which no bytes are to be sent has no results.
struct FlowFigures {
  std::string name;
  std::size_t flow = 0;  // index of the flow in the scenario
  sim::Side from{};
  // Number of bytes to send; kUnlimited if the flow sends until the run ends.
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;
  Duration start;                 // time from the run's zero until the client opened the connection
  std::optional<Duration> first;  // time from `start` to the first byte at the receiver
  // Time from `start` until the receiver has all bytes and the FIN.
  std::optional<Duration> completed;
  // Time from `start` until the server's connection was established.
  std::optional<Duration> sent_first;
  double goodput = 0;  // rate in bit/s, from `start` to completion or to the end of the run
  // The earliest possible completion if the flow had the link alone. Infinite if it can never
  // complete.
  Duration bound;
  // If the flow is complete, this is `bound` / `completed`. Otherwise it is the number of bytes
  // received so far, divided by the maximum number that the link could have carried so far.
  double bound_share = 0;
  std::string failure;  // why the flow did not end as specified; empty if it did
};

struct DirectionFigures {
  link::DirectionCounters counters;  // counted since the run's zero
  Duration queue_peak;  // longest wait of a frame in the queue, including its own transmission
};

struct RunResult {
  std::string name;
  std::uint64_t seed = 0;
  std::string congestion;  // congestion control of the hosts, as congestion_of() returns it
  Duration virtual_time;   // time from the run's zero to the end
  bool interrupted = false;
  std::vector<FlowGroup> groups;  // `first` and `count` refer to RunResult::flows
  std::vector<FlowFigures> flows;
  std::array<DirectionFigures, 2> link;
  std::array<bool, 2> has_gateway{};
  std::array<std::uint64_t, 2> arena_size{};
  std::array<std::uint64_t, 2> arena_peak{};
  std::vector<Sample> series;  // the first sample is at zero, the last at the end of the run
  double wall_seconds = 0;
  std::uint64_t peak_memory = 0;  // peak memory of the process in bytes

  const sim::GatewaySample& gateway(sim::Side side) const {
    return series.back().network.gateway(side);
  }
  bool failed() const;  // true if a flow did not end as specified, or if wrong bytes arrived
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Called after each sample. Returns false to end the run here.
  virtual bool on_progress(Duration at, Duration duration) = 0;
};

// Throws std::runtime_error if the gateways do not establish a session.
RunResult run_experiment(const Experiment& experiment, Observer* observer = nullptr);

}  // namespace satrelay::satlab
