// TP-S: 10 Mbit/s forward, RTT 550 ms, 1000-byte segments, a gateway queue of 50 packets, 550 s.
#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"

namespace satrelay::satlab {
namespace {

constexpr Duration kDuration = Duration::seconds(550);
constexpr std::uint16_t kSegment = 1000;
constexpr std::uint64_t kQueuePackets = 50;
constexpr double kLoss = 0.01;
constexpr double kTarget = 9.2;  // Mbit/s
// In kbit/s; the configured budget for feedback has the same value.
constexpr double kReturnTarget = 5;

Experiment build(std::size_t connections, BitRate back, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(10);
  conditions.back = back;
  conditions.round_trip = Duration::milliseconds(550);
  conditions.loss = kLoss;
  conditions.seed = seed;
  conditions.queue = ByteCount(kQueuePackets * 1500);
  Experiment experiment = experiment_for(conditions);
  // Use the same kind of feedback as TP-S: one report each round trip.
  experiment.scenario.stp.feedback.mode = config::FeedbackMode::kMNack;
  experiment.scenario.stp.feedback.budget = BitRate::bits_per_second(5'000);
  experiment.scenario.stations[0].hosts[0].tcp.mss = kSegment;
  experiment.scenario.stations[1].hosts[0].tcp.mss = kSegment;
  experiment.duration = kDuration;
  experiment.sampling = Duration::seconds(1);
  add_flows(experiment, {.name = "connection", .upload = kUnlimited, .count = connections});
  return experiment;
}

Case connections_case(const std::string& name, std::size_t connections, BitRate back,
                      std::vector<Published> published, std::vector<Published> published_return) {
  Case one;
  one.name = name;
  const double bound =
      bound_rate(build(connections, back, 1), sim::Side::kA, Duration::zero(), kDuration) / 1e6;
  one.rows = {{name, "Mbit/s", std::move(published), bound, kTarget, Better::kHigher},
              {name + ": return traffic", "kbit/s", std::move(published_return), std::nullopt,
               kReturnTarget, Better::kLower}};
  one.build = [connections, back](std::uint64_t seed) { return build(connections, back, seed); };
  one.figures = [](const RunResult& result) {
    return std::vector<double>{
        received_rate(result, sim::Side::kB, Duration::zero(), kDuration) / 1e6,
        carried_rate(result, sim::Side::kB, Duration::zero(), kDuration) / 1e3};
  };
  return one;
}

}  // namespace

Paper tps_paper() {
  Paper paper{"tps", "TP-S: 10 Mbit/s, RTT 550 ms, loss 1%, 550 s, IP bytes", {}};
  using enum Relation;
  const BitRate wide = megabit(10);
  paper.cases.push_back(connections_case(
      "1 connection", 1, wide,
      {{"Reno/NewReno/STP", 0.2}, {"Westwood", 0.3}, {"XCP", 0.5}, {"Peach", 0.72}, {"TP-S", 0.8}},
      {{"TCPs", 5, kMore}, {"TP-S", 1, kAtMost}}));
  // For ten connections, the paper has figures only with a narrow return link, not with a wide one.
  paper.cases.push_back(connections_case("10 connections", 10, wide, {}, {}));
  paper.cases.push_back(
      connections_case("20 connections", 20, wide,
                       {{"Reno/NewReno/STP", 3.5, kAbout},
                        {"XCP", 4.5},
                        {"Westwood", 5.5},
                        {"Peach", 7.5},
                        {"TP-S", 9, kAbout}},
                       {{"TCPs", 100, kMore}, {"Peach", 300, kAbout}, {"TP-S", 12}}));
  paper.cases.push_back(connections_case("10 connections, return link 200 kbit/s", 10, megabit(0.2),
                                         {{"TCPs", 8, kAbout}, {"TP-S", 9.5, kAbout}}, {}));
  paper.cases.push_back(connections_case("10 connections, return link 50 kbit/s", 10, megabit(0.05),
                                         {{"TCPs", 6, kLess}, {"TP-S", 9.5, kAbout}}, {}));
  return paper;
}

}  // namespace satrelay::satlab
