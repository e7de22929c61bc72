// WINDS: downloads and the fairness of parallel flows over 51 Mbit/s with 778 ms round trip.
#include <algorithm>

#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"
#include "relay/satlab/statistics.h"

namespace satrelay::satlab {
namespace {

constexpr std::uint64_t kFile = 18'500'000;
constexpr Duration kFairness = Duration::seconds(120);
constexpr std::int64_t kInterval = 5;  // seconds
constexpr double kJainTarget = 0.99;

Experiment build(double rate, std::int64_t round_trip_ms, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(rate);
  conditions.round_trip = Duration::milliseconds(round_trip_ms);
  conditions.seed = seed;
  return experiment_for(conditions);
}

// The server at a sends the file as soon as it has accepted the connection of the client at b.
Case download(const std::string& name, double rate, std::int64_t round_trip_ms,
              std::vector<Published> published, std::optional<double> target) {
  Case one;
  one.name = name;
  const double bits = static_cast<double>(kFile) * 8 / 1e6;
  // The bound is the time from the server's first byte until the client has the last byte. It
  // therefore includes half a round trip.
  const double bound = bits / bound_completion(build(rate, round_trip_ms, 1), kFile);
  one.rows = {{name, "Mbit/s", std::move(published), bound, target, Better::kHigher},
              {name + ", from the first byte at the client",
               "Mbit/s",
               {},
               std::nullopt,
               std::nullopt,
               Better::kHigher}};
  one.build = [rate, round_trip_ms](std::uint64_t seed) {
    Experiment experiment = build(rate, round_trip_ms, seed);
    experiment.until = Until::kFlowsOver;
    add_flows(experiment, {.name = "file", .client_side = sim::Side::kB, .download = kFile});
    return experiment;
  };
  one.figures = [bits](const RunResult& result) {
    const FlowFigures& flow = result.flows.front();
    if (!flow.completed || !flow.sent_first || !flow.first) {
      return std::vector<double>{kNotMeasured, kNotMeasured};
    }
    return std::vector<double>{bits / (*flow.completed - *flow.sent_first).to_seconds(),
                               bits / (*flow.completed - *flow.first).to_seconds()};
  };
  return one;
}

// Returns the lowest Jain index over all intervals of 5 s.
double least_jain_index(const RunResult& result) {
  double least = 1;
  const Sample* before = &result.series.front();
  for (const Sample& sample : result.series) {
    if ((sample.at - before->at) < Duration::seconds(kInterval)) continue;
    std::vector<double> received;
    for (const FlowFigures& flow : result.flows) {
      received.push_back(static_cast<double>(sample.network.flows[flow.flow].server_received -
                                             before->network.flows[flow.flow].server_received));
    }
    least = std::min(least, jain_index(received));
    before = &sample;
  }
  return result.interrupted ? kNotMeasured : least;
}

Case fairness(std::size_t flows, std::vector<Published> published) {
  Case one;
  one.name = "Jain index, " + std::to_string(flows) + " flows";
  one.rows = {{one.name, "", std::move(published), 1, kJainTarget, Better::kHigher}};
  one.build = [flows](std::uint64_t seed) {
    Experiment experiment = build(51, 778, seed);
    experiment.duration = kFairness;
    experiment.sampling = Duration::seconds(1);
    add_flows(experiment, {.name = "flow", .upload = kUnlimited, .count = flows});
    return experiment;
  };
  one.figures = [](const RunResult& result) {
    return std::vector<double>{least_jain_index(result)};
  };
  return one;
}

}  // namespace

Paper winds_paper() {
  Paper paper{"winds", "WINDS: RTT 778 ms, no loss, one 18.5 MB download, 120 s of fairness", {}};
  paper.cases.push_back(download("18.5 MB at 51 Mbit/s", 51, 778,
                                 {{"BIC", 7.2},
                                  {"CUBIC", 7.1},
                                  {"HighSpeed", 7.6},
                                  {"H-TCP", 8.2},
                                  {"Hybla", 8.5},
                                  {"Reno", 7.5},
                                  {"Scalable", 5.9},
                                  {"Vegas", 2.6},
                                  {"Veno", 7.5},
                                  {"Westwood", 3.5}},
                                 42));
  paper.cases.push_back(download("18.5 MB at 24 Mbit/s", 24, 777,
                                 {{"BIC", 6.2},
                                  {"CUBIC", 6.1},
                                  {"HighSpeed", 7.5},
                                  {"H-TCP", 5.8},
                                  {"Hybla", 6.9},
                                  {"Reno", 3.8},
                                  {"Scalable", 7.2},
                                  {"Vegas", 3.1},
                                  {"Veno", 6.1},
                                  {"Westwood", 5.3}},
                                 std::nullopt));
  paper.cases.push_back(fairness(2, {{"Reno x2", 1.00}, {"Hybla x2", 1.00}}));
  paper.cases.push_back(fairness(3, {{"Reno x1 + Hybla x2", 0.72}}));
  paper.cases.push_back(fairness(5, {{"Reno x5", 1.00}, {"Hybla x5", 0.76}}));
  paper.cases.push_back(fairness(7, {{"Reno x5 + Hybla x2", 0.31}}));
  paper.cases.push_back(fairness(50, {}));
  return paper;
}

}  // namespace satrelay::satlab
