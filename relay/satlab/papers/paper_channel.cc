// Effects that no single paper measures, but that traffic over any satellite meets: short flows on
// a lossy link, bursts of losses, reordering, steps of the rate, an outage, a low orbit.
#include <algorithm>
#include <iterator>

#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_setup.h"
#include "relay/satlab/statistics.h"

namespace satrelay::satlab {
namespace {

Conditions geo(std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(50);
  conditions.round_trip = Duration::milliseconds(550);
  conditions.overhead = config::kOverheadEthernet;
  conditions.seed = seed;
  return conditions;
}

// --- short flows --------------------------------------------------------------------------------

constexpr std::size_t kShortFlows = 1'000;
constexpr double kShortLoss = 0.01;
constexpr double kMeanAboveBound = 1.15;

struct ShortFlows {
  const char* name;
  double rate;
  std::int64_t round_trip_ms;
  std::uint64_t bytes;
  // The mean completion time in seconds at 1% loss if each loss is retransmitted as soon as a NACK
  // reports it.
  double nack_mean;
};

Experiment build_short(const ShortFlows& spec, double loss, std::size_t count, std::uint64_t seed) {
  Conditions conditions;
  conditions.forward = megabit(spec.rate);
  conditions.round_trip = Duration::milliseconds(spec.round_trip_ms);
  conditions.loss = loss;
  conditions.seed = seed;
  Experiment experiment = experiment_for(conditions);
  // The flows start far enough apart that each flow finds the link idle.
  const Duration spacing = Duration::seconds(4);
  experiment.until = Until::kFlowsOver;
  experiment.duration = spacing * static_cast<std::int64_t>(count + 5);
  experiment.sampling = Duration::seconds(10);
  add_flows(experiment,
            {.name = "short", .upload = spec.bytes, .count = count, .spacing = spacing});
  return experiment;
}

Case short_flows(const ShortFlows& spec) {
  Case one;
  one.name = spec.name;
  // The bound assumes a link without loss, since FEC can hide the loss.
  const double bound = bound_completion(build_short(spec, 0, 1, 1), spec.bytes);
  one.rows = {{one.name + ", mean", "s", {}, bound, bound * kMeanAboveBound, Better::kLower},
              {one.name + ", median", "s", {}, bound, std::nullopt, Better::kLower},
              {one.name + ", p99", "s", {}, bound, spec.nack_mean, Better::kLower}};
  one.build = [spec](std::uint64_t seed) {
    return build_short(spec, kShortLoss, kShortFlows, seed);
  };
  one.figures = [](const RunResult& result) {
    std::vector<double> times;
    for (const FlowFigures& flow : result.flows) {
      if (flow.completed && flow.failure.empty()) times.push_back(flow.completed->to_seconds());
    }
    if (times.size() < result.flows.size()) return std::vector<double>(3, kNotMeasured);
    return std::vector<double>{mean(times), percentile(times, 0.5), percentile(times, 0.99)};
  };
  return one;
}

// --- bulk ---------------------------------------------------------------------------------------

constexpr Duration kBulkFrom = Duration::seconds(1);
constexpr Duration kBulkTo = Duration::seconds(60);

// In the bad state the link loses all packets, so that it loses 1% of all packets in the long run.
// `mean_packets` is the mean length of a burst of losses.
Case bursts(double mean_packets) {
  constexpr double kLoss = 0.01;
  const auto build = [mean_packets](std::uint64_t seed) {
    Experiment experiment = experiment_for(geo(seed));
    config::GilbertElliott chain;
    chain.bad_to_good = 1 / mean_packets;
    chain.good_to_bad = chain.bad_to_good * kLoss / (1 - kLoss);
    experiment.scenario.a_to_b.gilbert_elliott = chain;
    // On the return path, a report is sent only every 25 ms, so a fade is over before the next
    // report. The fades thus lose single reports, independently of each other.
    experiment.scenario.b_to_a.loss = kLoss;
    experiment.duration = kBulkTo;
    add_flows(experiment, {.name = "bulk", .upload = kUnlimited});
    return experiment;
  };
  Case one;
  one.name = "bursts of " + std::to_string(static_cast<int>(mean_packets)) + " packets, 1%";
  const double bound = bound_rate(build(1), sim::Side::kA, kBulkFrom, kBulkTo) / 1e6;
  one.rows = {{one.name, "Mbit/s", {}, bound, bound * 0.98, Better::kHigher}};
  one.build = build;
  one.figures = [](const RunResult& result) {
    return std::vector<double>{stored_rate(result, sim::Side::kB, kBulkFrom, kBulkTo) / 1e6};
  };
  return one;
}

Case reordering() {
  Case one;
  one.name = "reordering of 5% by 10 ms";
  one.rows = {{one.name + ": spurious retransmissions", "%", {}, 0, 0.1, Better::kLower}};
  one.build = [](std::uint64_t seed) {
    Experiment experiment = experiment_for(geo(seed));
    for (config::LinkDirection* direction :
         {&experiment.scenario.a_to_b, &experiment.scenario.b_to_a}) {
      direction->reorder = 0.05;
      direction->reorder_by = Duration::milliseconds(10);
    }
    experiment.duration = kBulkTo;
    add_flows(experiment, {.name = "bulk", .upload = kUnlimited});
    return experiment;
  };
  one.figures = [](const RunResult& result) {
    const stp::Counters& sent = result.gateway(sim::Side::kA).stp;
    return std::vector<double>{100 * static_cast<double>(sent.spurious_losses) /
                               static_cast<double>(sent.packets_out)};
  };
  return one;
}

// --- steps and outages --------------------------------------------------------------------------

constexpr Duration kStepDown = Duration::seconds(10);
constexpr Duration kStepUp = Duration::seconds(25);
constexpr Duration kStepEnd = Duration::seconds(40);
constexpr Duration kGrid = Duration::milliseconds(50);
constexpr double kQueueTarget = 25;  // ms

Case rate_step(Announced announced) {
  const std::int64_t round_trips = announced == Announced::kYes ? 1 : 4;
  Case one;
  one.name =
      announced == Announced::kYes ? "rate step 10:1, announced" : "rate step 10:1, unannounced";
  one.rows = {{one.name + ": queue after " + std::to_string(round_trips) + " RTT",
               "ms",
               {},
               0,
               kQueueTarget,
               Better::kLower}};
  if (announced == Announced::kYes) {
    one.rows.push_back({one.name + ": step up to 99% at the receiver, grid 50 ms",
                        "s",
                        {},
                        0.275,
                        0.55 + 0.275,
                        Better::kLower});
  }
  one.build = [announced](std::uint64_t seed) {
    Conditions conditions = geo(seed);
    // If the step is not announced, the sender learns of it from the reports, a round trip later.
    // During that round trip a deep queue would fill with more bytes than can drain within four
    // round trips. So the modem has the usual queue: 100 ms at the full rate, which takes a second
    // to drain at the lower rate.
    conditions.queue = announced == Announced::kYes ? ByteCount(4'000'000) : ByteCount(625'000);
    Experiment experiment = experiment_for(conditions);
    experiment.changes.push_back(
        {.at = kStepDown, .ways = Ways::kAToB, .rate = megabit(5), .announced = announced});
    experiment.changes.push_back(
        {.at = kStepUp, .ways = Ways::kAToB, .rate = megabit(50), .announced = announced});
    experiment.duration = kStepEnd;
    experiment.sampling = kGrid;
    add_flows(experiment, {.name = "bulk", .upload = kUnlimited});
    return experiment;
  };
  one.figures = [announced, round_trips](const RunResult& result) {
    const Duration settled = kStepDown + Duration::milliseconds(550) * round_trips;
    std::vector<double> figures = {queue_peak_ms(result, sim::Side::kA, settled, kStepUp)};
    if (announced == Announced::kYes) {
      const double before = stored_rate(result, sim::Side::kB, Duration::seconds(2), kStepDown);
      figures.push_back(seconds_until_rate(result, sim::Side::kB, kStepUp, before * 0.99));
    }
    return figures;
  };
  return one;
}

Case outage() {
  static constexpr Duration kGone = Duration::seconds(10);
  static constexpr Duration kBack = Duration::seconds(20);
  Case one;
  one.name = "outage of 10 s";
  // The target is the sum of three times. The sender probes the link within 0.1 s after the outage.
  // A round trip of 0.55 s passes before the full rate arrives at the receiver. The result is the
  // end of the first step of 0.05 s at the full rate.
  one.rows = {{one.name + ": full rate at the receiver after its return, grid 50 ms",
               "s",
               {},
               0.275,
               0.70,
               Better::kLower},
              {one.name + ": flows lost", "", {}, 0, 0, Better::kLower}};
  one.build = [](std::uint64_t seed) {
    Experiment experiment = experiment_for(geo(seed));
    experiment.changes.push_back({.at = kGone, .outage = true});
    experiment.changes.push_back({.at = kBack, .outage = false});
    experiment.duration = Duration::seconds(40);
    experiment.sampling = kGrid;
    add_flows(experiment, {.name = "bulk", .upload = kUnlimited, .count = 10});
    return experiment;
  };
  one.figures = [](const RunResult& result) {
    const double before = stored_rate(result, sim::Side::kB, Duration::seconds(2), kGone);
    const auto lost = std::ranges::count_if(
        result.flows, [](const FlowFigures& flow) { return !flow.failure.empty(); });
    return std::vector<double>{seconds_until_rate(result, sim::Side::kB, kBack, before * 0.99),
                               static_cast<double>(lost)};
  };
  return one;
}

// A low orbit: the delay of the path changes in steps at handovers between satellites. Each
// handover interrupts the link for 100 ms.
Case low_orbit() {
  static constexpr Duration kTo = Duration::seconds(120);
  static constexpr Duration kHandover = Duration::seconds(15);
  static constexpr Duration kBlackout = Duration::milliseconds(100);
  constexpr double kShare = 0.97;
  const auto build = [](std::uint64_t seed) {
    Conditions conditions = geo(seed);
    conditions.forward = megabit(100);
    conditions.round_trip = Duration::milliseconds(50);
    Experiment experiment = experiment_for(conditions);
    // One-way delays, for round trips of 25 to 60 ms.
    const std::int64_t delays_us[] = {12'500, 30'000, 20'000, 25'000, 15'000};
    std::size_t turn = 1;
    for (Duration at = kHandover; at < kTo; at = at + kHandover) {
      const Duration delay = Duration::microseconds(delays_us[turn++ % std::size(delays_us)]);
      experiment.changes.push_back({.at = at, .delay = delay, .outage = true});
      experiment.changes.push_back({.at = at + kBlackout, .outage = false});
    }
    experiment.duration = kTo;
    add_flows(experiment, {.name = "bulk", .upload = kUnlimited});
    return experiment;
  };
  Case one;
  one.name = "low orbit: RTT 25-60 ms, steps every 15 s, 100 ms blackouts";
  const double bound = bound_rate(build(1), sim::Side::kA, kBulkFrom, kTo) / 1e6;
  one.rows = {{one.name, "Mbit/s", {}, bound, bound * kShare, Better::kHigher}};
  one.build = build;
  one.figures = [](const RunResult& result) {
    return std::vector<double>{stored_rate(result, sim::Side::kB, kBulkFrom, kTo) / 1e6};
  };
  return one;
}

}  // namespace

Paper channel_paper() {
  Paper paper{"channel", "Short flows, bursts, reordering, rate steps, outages", {}};
  const ShortFlows specs[] = {
      {"100 KB at 51 Mbit/s, 778 ms, 1%", 51, 778, 100'000, 0.80},
      {"1 MB at 51 Mbit/s, 778 ms, 1%", 51, 778, 1'000'000, 1.36},
      {"100 KB at 250 Mbit/s, 600 ms, 1%", 250, 600, 100'000, 0.60},
      {"1 MB at 250 Mbit/s, 600 ms, 1%", 250, 600, 1'000'000, 0.97},
  };
  for (const ShortFlows& spec : specs) paper.cases.push_back(short_flows(spec));
  paper.cases.push_back(bursts(10));
  paper.cases.push_back(bursts(50));
  paper.cases.push_back(reordering());
  paper.cases.push_back(rate_step(Announced::kYes));
  paper.cases.push_back(rate_step(Announced::kNo));
  paper.cases.push_back(outage());
  paper.cases.push_back(low_orbit());
  return paper;
}

}  // namespace satrelay::satlab
