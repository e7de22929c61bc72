// Common parts of the papers' experiments: two hosts, two gateways, a link with the paper's
// conditions, and figures taken from the time series.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/satlab/experiment.h"
#include "relay/satlab/run.h"

namespace satrelay::satlab {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

constexpr BitRate megabit(double value) {
  return BitRate::bits_per_second(static_cast<std::uint64_t>(value * 1e6));
}

struct Conditions {
  BitRate forward;              // a to b
  std::optional<BitRate> back;  // nullopt: the same as `forward`
  Duration round_trip;
  double loss = 0;  // probability of the loss of a packet, both ways
  std::uint16_t mtu = 1500;
  std::uint32_t overhead = config::kOverheadIp;
  ByteCount queue = ByteCount(0);
  std::uint64_t seed = 1;
};
// Returns an experiment with one host on each side. The cables have at least four times the link's
// rate, and add 0.1 ms to the round trip.
Experiment experiment_for(const Conditions& conditions);

// Return how many bits a second were stored by the gateway at `at`, or received by its hosts,
// between two times. NaN unless the series has samples at both times.
double stored_rate(const RunResult& result, sim::Side at, Duration begin, Duration end);
double received_rate(const RunResult& result, sim::Side at, Duration begin, Duration end);
// Returns how many bits a second the direction carried between two times, as the modem counts them,
// lost frames included.
double carried_rate(const RunResult& result, sim::Side from, Duration begin, Duration end);

// Returns the seconds from `begin` until the gateway at `at` first stores at least `rate` (bit/s)
// between two samples of the series; NaN if it never does.
double seconds_until_rate(const RunResult& result, sim::Side at, Duration begin, double rate);

// Returns the longest wait of any frame in the modem's queue between two times, in milliseconds.
double queue_peak_ms(const RunResult& result, sim::Side from, Duration begin, Duration end);

// Returns the completion time of the first flow, in seconds; NaN if the flow is not complete.
double completion_seconds(const RunResult& result);

// Returns the link's bound for payload between two times, in bit/s.
double bound_rate(const Experiment& experiment, sim::Side from, Duration begin, Duration end);
// Returns the earliest completion of an upload that begins at zero, in seconds.
double bound_completion(const Experiment& experiment, std::uint64_t bytes);

}  // namespace satrelay::satlab
