// Marchese, SPS and STP: 2.048 Mbit/s over a geostationary satellite, real measurements.
#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"

namespace satrelay::satlab {
namespace {

constexpr Duration kCutAt = Duration::seconds(2);  // "in the first phase of the connection"
constexpr Duration kCut = Duration::milliseconds(500);
constexpr double kAfterCut = 0.3;  // seconds beyond the bound

Experiment build(std::uint64_t bytes, Duration cut, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(2.048);
  conditions.round_trip = Duration::milliseconds(511);
  conditions.seed = seed;
  Experiment experiment = experiment_for(conditions);
  if (cut > Duration::zero()) {
    experiment.changes.push_back({.at = kCutAt, .outage = true});
    experiment.changes.push_back({.at = kCutAt + cut, .outage = false});
  }
  experiment.until = Until::kFlowsOver;
  experiment.duration = Duration::seconds(120);
  add_flows(experiment, {.name = "file", .upload = bytes});
  return experiment;
}

Case transfer(const std::string& name, std::uint64_t bytes, Duration cut,
              std::vector<Published> published, std::optional<double> target) {
  const double bound = bound_completion(build(bytes, cut, 1), bytes);
  Case one;
  one.name = name;
  one.rows = {
      {name, "s", std::move(published), bound, target.value_or(bound + kAfterCut), Better::kLower}};
  one.build = [bytes, cut](std::uint64_t seed) { return build(bytes, cut, seed); };
  one.figures = [](const RunResult& result) {
    return std::vector<double>{completion_seconds(result)};
  };
  return one;
}

}  // namespace

Paper marchese_paper() {
  Paper paper{"marchese", "Marchese, SPS/STP: 2.048 Mbit/s, RTT 511 ms, 1500 B, IP bytes", {}};
  using enum Relation;
  // The paper contradicts itself about the times of "Reference". For 3 MB without a cut, the text
  // about figure 7 gives 16.05 s, and table 3 gives 13.2 s. For 3 MB with a cut, the time is 51.5 s
  // in table 2, and 23.6 s in table 3.
  paper.cases.push_back(transfer("3 MB", 3'000'000, Duration::zero(),
                                 {{"Reference", 16.05, kEqual, "Fig. 7"},
                                  {"Reference", 13.2, kEqual, "Table 3"},
                                  {"STP", 12.54}},
                                 12.6));
  paper.cases.push_back(
      transfer("100 KB", 100'000, Duration::zero(), {{"Reference", 3.7}, {"STP", 0.6}}, 0.70));
  paper.cases.push_back(transfer("3 MB, 0.5 s cut", 3'000'000, kCut,
                                 {{"Reference", 51.5, kEqual, "Table 2"},
                                  {"Reference", 23.6, kEqual, "Table 3"},
                                  {"STP", 14.5}},
                                 std::nullopt));
  return paper;
}

}  // namespace satrelay::satlab
