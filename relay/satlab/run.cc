#include "relay/satlab/run.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "relay/satlab/bounds.h"
#include "relay/sim/network/network.h"

namespace satrelay::satlab {
namespace {

using sim::Side;

constexpr Side kSides[] = {Side::kA, Side::kB};

std::uint64_t peak_memory() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Returns the scenario with the experiment's changes of rate and delay as steps of the link itself.
// If the rate then changes while frames wait, the link sends these frames at the new rate.
sim::Scenario with_steps(const Experiment& experiment) {
  sim::Scenario scenario = experiment.scenario;
  for (const LinkChange& change : experiment.changes) {
    const Duration at = experiment.warm_up + change.at;
    for (const Side side : kSides) {
      if (!includes(change.ways, side)) continue;
      config::LinkDirection& direction = side == Side::kA ? scenario.a_to_b : scenario.b_to_a;
      if (change.rate) direction.rate_steps.push_back({at, *change.rate});
      if (change.delay) direction.delay_steps.push_back({at, *change.delay});
    }
  }
  return scenario;
}

class Run {
 public:
  Run(const Experiment& experiment, Observer* observer)
      : experiment_(experiment), observer_(observer), network_(with_steps(experiment), tracer_) {
    list_flows();
  }

  RunResult run() {
    const auto begin = std::chrono::steady_clock::now();
    find_peers();
    sample();
    for (const LinkChange& change : experiment_.changes) schedule(change);
    bool going_on = true;
    while (going_on && now() < experiment_.duration) {
      const Duration next = std::min(now() + experiment_.sampling, experiment_.duration);
      const bool over = advance(next);
      sample();
      going_on = observer_ == nullptr || observer_->on_progress(now(), experiment_.duration);
      result_.interrupted = !going_on;
      if (over) break;
    }
    collect();
    result_.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result_.peak_memory = peak_memory();
    return std::move(result_);
  }

 private:
  Duration now() { return network_.loop().now() - experiment_.zero(); }
  link::LinkDirection& direction(Side from) {
    return from == Side::kA ? network_.satellite().from_a() : network_.satellite().from_b();
  }

  void find_peers() {
    const bool found = !experiment_.scenario.gateways_present ||
                       network_.run_until_peers_alive(experiment_.zero());
    if (!found) {
      throw std::runtime_error("the gateways did not find each other within " +
                               std::to_string(experiment_.warm_up.to_milliseconds()) +
                               " ms: is the link able to carry their packets?");
    }
    network_.loop().run_until(experiment_.zero());
  }

  void schedule(const LinkChange& change) {
    network_.loop().at(experiment_.zero() + change.at, [this, change] {
      for (const Side side : kSides) {
        if (!includes(change.ways, side)) continue;
        if (change.rate && change.announced == Announced::kYes) announce(side, *change.rate);
        if (change.loss) direction(side).set_loss(*change.loss);
      }
      if (change.outage) network_.satellite().set_outage(*change.outage);
    });
  }

  void announce(Side from, BitRate rate) {
    if (!network_.is_running(from)) return;
    // "sat" is the name that sim::Network gives the link.
    network_.gateway(from).engine().rates().set_capacity("sat", gateway::LinkWay::kSend, rate,
                                                         network_.loop().now());
    network_.gateway(from).wake();
  }

  // Runs until `next`. Returns true if all flows are over and the experiment ends then.
  bool advance(Duration next) {
    const Instant limit = experiment_.zero() + next;
    if (experiment_.until == Until::kFlowsOver) return network_.run_until_flows_over(limit);
    network_.loop().run_until(limit);
    return false;
  }

  // Lists each direction of a flow in which bytes are to be sent.
  void list_flows() {
    for (const FlowGroup& group : experiment_.groups) {
      const std::size_t first = result_.flows.size();
      for (std::size_t i = 0; i < group.count; ++i) {
        const sim::FlowSpec& spec = experiment_.scenario.flows[group.first + i];
        FlowFigures figures;
        figures.name = group.name;
        if (group.count > 1) figures.name += " #" + std::to_string(i + 1);
        figures.flow = group.first + i;
        figures.start = spec.start - experiment_.zero();
        for (const bool upload : {true, false}) {
          figures.from = upload ? spec.client_side : sim::opposite(spec.client_side);
          figures.bytes = (upload ? spec.client_plan : spec.server_plan).send_bytes;
          if (figures.bytes > 0) result_.flows.push_back(figures);
        }
      }
      result_.groups.push_back({group.name, first, result_.flows.size() - first});
    }
  }

  const sim::Outcome& receiver_of(const FlowFigures& figures) const {
    const sim::FlowResult& flow = network_.flow(figures.flow);
    return figures.from == network_.spec(figures.flow).client_side ? flow.server : flow.client;
  }

  void sample() {
    Sample sample;
    sample.at = now();
    sample.network = sim::take_sample(network_);
    for (const Side side : kSides) {
      const auto index = static_cast<std::size_t>(side);
      sample.host_received[index] = sample.network.delivered_to(side);
      result_.arena_peak[index] =
          std::max(result_.arena_peak[index], sample.network.gateway(side).arena_used);
      Duration& peak = result_.link[index].queue_peak;
      // The first sample is taken at zero, so its peak is from the warm-up and does not count.
      if (!result_.series.empty()) peak = std::max(peak, sample.network.link_from(side).queue_peak);
    }
    if (sample.network.flows.size() > kMostFlowsInSeries) sample.network.flows = {};
    result_.series.push_back(std::move(sample));
  }

  void collect() {
    result_.name = experiment_.name;
    result_.seed = experiment_.scenario.seed;
    result_.congestion = congestion_of(experiment_.scenario);
    result_.virtual_time = now();
    for (const Side side : kSides) {
      const auto index = static_cast<std::size_t>(side);
      const auto counters = [&](const Sample& sample) -> const link::DirectionCounters& {
        return sample.network.link_from(side).counters;
      };
      result_.link[index].counters =
          difference(counters(result_.series.back()), counters(result_.series.front()));
      result_.has_gateway[index] = network_.is_running(side);
      if (!result_.has_gateway[index]) continue;
      result_.arena_size[index] =
          network_.gateway(side).engine().status(network_.loop().now()).arena_bytes;
    }
    for (FlowFigures& flow : result_.flows) measure(flow);
  }

  void measure(FlowFigures& flow) {
    const sim::Outcome& receiver = receiver_of(flow);
    const sim::FlowSpec& spec = network_.spec(flow.flow);
    const sim::FlowResult& outcome = network_.flow(flow.flow);
    const Instant start = spec.start;
    flow.received = receiver.received;
    if (receiver.received > 0) flow.first = receiver.first_byte_at - start;
    const bool whole = receiver.saw_end && receiver.received == flow.bytes;
    if (whole) flow.completed = receiver.saw_end_at - start;
    if (outcome.server.established) flow.sent_first = outcome.server.established_at - start;
    flow.failure = failure_of(outcome, receiver, whole);
    const Duration elapsed =
        whole ? *flow.completed : std::max(now() - flow.start, Duration::zero());
    if (elapsed > Duration::zero()) {
      flow.goodput = static_cast<double>(flow.received) * 8 / elapsed.to_seconds();
    }
    // The server cannot send before the OPEN has crossed the link in the client's direction.
    Duration ready = flow.start;
    if (flow.from != spec.client_side) {
      ready = LinkBound(experiment_, spec.client_side, 1).arrival(flow.start, 0);
    }
    const LinkBound link(experiment_, flow.from, flow.bytes);
    const Duration arrival =
        flow.bytes == kUnlimited ? Duration::infinite() : link.arrival(ready, flow.bytes);
    flow.bound = arrival.is_infinite() ? arrival : arrival - flow.start;
    if (whole && !flow.bound.is_infinite()) {
      flow.bound_share = flow.bound.to_seconds() / flow.completed->to_seconds();
    } else if (!whole) {
      const Duration in_flight = link.arrival(ready, 0) - ready;
      const double most = link.bits_between(ready, now() - in_flight);
      if (most > 0) flow.bound_share = static_cast<double>(flow.received) * 8 / most;
    }
  }

  static std::string failure_of(const sim::FlowResult& flow, const sim::Outcome& receiver,
                                bool whole) {
    if (receiver.first_wrong_byte) {
      return "wrong byte at " + std::to_string(*receiver.first_wrong_byte);
    }
    if (whole) return "";
    if (flow.client.was_reset() || flow.server.was_reset()) return "reset";
    if (flow.client.gave_up || flow.server.gave_up) return "gave up";
    if (flow.client.reason == tcp::CloseReason::kTimeout ||
        flow.server.reason == tcp::CloseReason::kTimeout) {
      return "timeout";
    }
    if (receiver.ended) return "ended early";
    return "";
  }

  const Experiment& experiment_;
  Observer* observer_;
  sim::Tracer tracer_;
  RunResult result_;
  sim::Network network_;
};

}  // namespace

bool RunResult::failed() const {
  return std::ranges::any_of(flows, [](const FlowFigures& flow) { return !flow.failure.empty(); });
}

RunResult run_experiment(const Experiment& experiment, Observer* observer) {
  return Run(experiment, observer).run();
}

}  // namespace satrelay::satlab
