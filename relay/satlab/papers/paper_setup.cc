#include "relay/satlab/papers/paper_setup.h"

#include <algorithm>

#include "relay/satlab/bounds.h"

namespace satrelay::satlab {
namespace {

constexpr std::uint64_t kWindow = 4 << 20;
constexpr Duration kCableDelay = Duration::microseconds(25);

const Sample* sample_at(const RunResult& result, Duration at) {
  const auto found = std::ranges::lower_bound(result.series, at, {}, &Sample::at);
  return found != result.series.end() && found->at == at ? &*found : nullptr;
}

template <typename Count>
double rate_between(const RunResult& result, Duration begin, Duration end, Count&& count) {
  const Sample* first = sample_at(result, begin);
  const Sample* last = sample_at(result, end);
  if (first == nullptr || last == nullptr || last->at <= first->at) return kNotMeasured;
  return static_cast<double>(count(*last) - count(*first)) * 8 / (end - begin).to_seconds();
}

}  // namespace

Experiment experiment_for(const Conditions& conditions) {
  Experiment experiment;
  sim::Scenario& scenario = experiment.scenario;
  scenario.seed = conditions.seed;
  scenario.overhead = conditions.overhead;
  scenario.a_to_b.rate = conditions.forward;
  scenario.a_to_b.delay = conditions.round_trip / 2;
  scenario.a_to_b.loss = conditions.loss;
  scenario.a_to_b.queue = conditions.queue;
  scenario.b_to_a = scenario.a_to_b;
  scenario.b_to_a.rate = conditions.back.value_or(conditions.forward);
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    sim::Station& station = scenario.station(side);
    station.cable.rate = std::max(megabit(1'000), conditions.forward.scaled(4, 1));
    station.cable.delay = kCableDelay;
    sim::HostSpec host = sim::make_host(side, 0, scenario.seed);
    host.tcp.send_limit = host.tcp.receive_limit = kWindow;
    station.hosts.push_back(host);
  }
  sim::set_mtu(scenario, {conditions.mtu, conditions.mtu});
  experiment.warm_up = warm_up_for(scenario);
  experiment.until = Until::kDuration;
  return experiment;
}

double stored_rate(const RunResult& result, sim::Side at, Duration begin, Duration end) {
  return rate_between(result, begin, end,
                      [&](const Sample& sample) { return sample.network.stored_at(at); });
}

double received_rate(const RunResult& result, sim::Side at, Duration begin, Duration end) {
  return rate_between(result, begin, end, [&](const Sample& sample) {
    return sample.host_received[static_cast<std::size_t>(at)];
  });
}

double carried_rate(const RunResult& result, sim::Side from, Duration begin, Duration end) {
  return rate_between(result, begin, end, [&](const Sample& sample) {
    return sample.network.link_from(from).counters.bytes_carried;
  });
}

double seconds_until_rate(const RunResult& result, sim::Side at, Duration begin, double rate) {
  for (std::size_t i = 1; i < result.series.size(); ++i) {
    const Duration from = result.series[i - 1].at;
    const Duration to = result.series[i].at;
    if (from < begin) continue;
    if (stored_rate(result, at, from, to) >= rate) return (to - begin).to_seconds();
  }
  return kNotMeasured;
}

double queue_peak_ms(const RunResult& result, sim::Side from, Duration begin, Duration end) {
  double peak = 0;
  bool seen = false;
  for (std::size_t i = 1; i < result.series.size(); ++i) {
    if (result.series[i - 1].at < begin || result.series[i].at > end) continue;
    seen = true;
    peak = std::max(peak, result.series[i].network.link_from(from).queue_peak.to_seconds() * 1e3);
  }
  return seen ? peak : kNotMeasured;
}

double completion_seconds(const RunResult& result) {
  const FlowFigures& flow = result.flows.front();
  return flow.completed && flow.failure.empty() ? flow.completed->to_seconds() : kNotMeasured;
}

double bound_rate(const Experiment& experiment, sim::Side from, Duration begin, Duration end) {
  // The number of bytes of a flow that fills the link all the time. It decides the length of the
  // stream offsets in the flow's packets.
  const double rate = static_cast<double>(experiment.scenario.a_to_b.rate.to_bits_per_second()) / 8;
  const auto bytes = static_cast<std::uint64_t>(rate * end.to_seconds());
  return LinkBound(experiment, from, bytes).bits_between(begin, end) / (end - begin).to_seconds();
}

double bound_completion(const Experiment& experiment, std::uint64_t bytes) {
  return LinkBound(experiment, sim::Side::kA, bytes).arrival(Duration::zero(), bytes).to_seconds();
}

}  // namespace satrelay::satlab
