// The software network accelerator: FTP over WINDS, 51 Mbit/s, RTT 0.8 s. The time is measured from
// SYN to FIN at the receiver of the file.
#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"

namespace satrelay::satlab {
namespace {

constexpr std::uint64_t kSmall = 1'079'064;
constexpr std::uint64_t kLarge = 310'677'846;

Experiment build(std::uint64_t bytes, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(51);
  conditions.round_trip = Duration::milliseconds(800);
  conditions.seed = seed;
  Experiment experiment = experiment_for(conditions);
  experiment.until = Until::kFlowsOver;
  experiment.duration = Duration::seconds(300);
  // FTP in active mode: the side that has the file opens the data connection, so it is the client.
  add_flows(experiment, {.name = "file", .upload = bytes});
  return experiment;
}

Case transfer(const std::string& name, std::uint64_t bytes, std::vector<Published> published,
              double target) {
  Case one;
  one.name = name;
  one.rows = {{name, "s", std::move(published), bound_completion(build(bytes, 1), bytes), target,
               Better::kLower}};
  one.build = [bytes](std::uint64_t seed) { return build(bytes, seed); };
  one.figures = [](const RunResult& result) {
    return std::vector<double>{completion_seconds(result)};
  };
  return one;
}

}  // namespace

Paper accelerator_paper() {
  Paper paper{"accelerator", "Software accelerator: FTP, 51 Mbit/s, RTT 0.8 s, IP bytes", {}};
  paper.cases.push_back(transfer(
      "1,079,064 B", kSmall,
      {{"all features", 1.427}, {"ACK handling", 1.423}, {"Sky-X", 1.08}, {"none", 1.33}}, 0.62));
  paper.cases.push_back(transfer("310,677,846 B", kLarge,
                                 {{"ACK + window", 64.69}, {"Sky-X", 75.94}, {"none", 146.63}},
                                 52.5));
  return paper;
}

}  // namespace satrelay::satlab
