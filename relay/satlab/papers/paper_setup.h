// The common parts of the papers' experiments: two hosts, two gateways, a link with the paper's
// conditions, and functions that compute figures from the time series.
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
  BitRate forward;              // rate from a to b
  std::optional<BitRate> back;  // rate from b to a; nullopt means the same as `forward`
  Duration round_trip;
  double loss = 0;  // probability that a packet is lost, in either direction
  std::uint16_t mtu = 1500;
  std::uint32_t overhead = config::kOverheadIp;
  ByteCount queue = ByteCount(0);
  std::uint64_t seed = 1;
};
// Returns an experiment with one host on each side. The hosts' cables have at least four times the
// link's rate, and add 0.1 ms to the round trip.
Experiment experiment_for(const Conditions& conditions);

// Both functions return a mean rate in bits a second between two times. stored_rate() counts the
// bytes that the gateway at `at` stored, and received_rate() the bytes that its hosts received. The
// result is NaN unless the series has samples at both times.
double stored_rate(const RunResult& result, sim::Side at, Duration begin, Duration end);
double received_rate(const RunResult& result, sim::Side at, Duration begin, Duration end);
// Returns the mean rate in bits a second of the frames that the modem at `from` accepted between
// two times, with the overhead of the modem. Frames that were lost on the link are included. The
// result is NaN unless the series has samples at both times.
double carried_rate(const RunResult& result, sim::Side from, Duration begin, Duration end);

// Returns the time in seconds from `begin` until the gateway at `at` first stores at least `rate`
// (bit/s) between two samples. Returns NaN if it never does.
double seconds_until_rate(const RunResult& result, sim::Side at, Duration begin, double rate);

// Returns the longest time in milliseconds that a frame waited in the modem's queue between two
// times.
double queue_peak_ms(const RunResult& result, sim::Side from, Duration begin, Duration end);

// Returns the completion time of the first flow, in seconds; NaN if the flow is not complete.
double completion_seconds(const RunResult& result);

// Returns the link's bound for payload between two times, in bit/s.
double bound_rate(const Experiment& experiment, sim::Side from, Duration begin, Duration end);
// Returns the earliest completion of an upload that begins at zero, in seconds.
double bound_completion(const Experiment& experiment, std::uint64_t bytes);

}  // namespace satrelay::satlab
