#include "relay/sim/checks/watch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

namespace satrelay::sim {
namespace {

constexpr Duration kInterval = Duration::seconds(5);

std::optional<gateway::FlowSnapshot> find_flow(GatewayNode& node, const SocketPair& pair,
                                               Instant now) {
  const auto flows = node.flows(now);
  const auto flow = std::ranges::find_if(flows, [&](const gateway::FlowSnapshot& f) {
    return f.client == pair.local && f.server == pair.remote && f.client_port == pair.local_port &&
           f.server_port == pair.remote_port;
  });
  return flow == flows.end() ? std::nullopt : std::optional(*flow);
}

// Describes a flow as the gateway sees it, to help explain why the flow makes no progress.
std::string as_seen_by(GatewayNode& node, const SocketPair& pair, Instant now) {
  const auto flow = find_flow(node, pair, now);
  std::string text = "\n      " + node.name() + ": ";
  if (!flow) return text + "does not know it";
  text += tcp::to_string(flow->tcp_state);
  text += ", from host " + std::to_string(flow->bytes_from_lan) + ", stored " +
          std::to_string(flow->lan_stored) + ", window " + std::to_string(flow->lan_window) +
          "; to peer: waits for ";
  text += to_string(flow->wait_towards_peer);
  text += ", unsent " + std::to_string(flow->stp_unsent) + ", unacknowledged " +
          std::to_string(flow->stp_unacknowledged) + ", credit " +
          std::to_string(flow->stp_credit) + "; to host: waits for ";
  text += to_string(flow->wait_towards_host);
  text += ", stored " + std::to_string(flow->stp_stored) + ", in order " +
          std::to_string(flow->stp_in_order) + ", unacknowledged " +
          std::to_string(flow->lan_unacknowledged);
  return text;
}

}  // namespace

void Watch::start() {
  network_->loop().at(network_->loop().now() + kInterval, [watch = shared_from_this()] {
    if (watch->network_ == nullptr) return;
    watch->start();
    watch->look();
  });
}

void Watch::look() {
  look_at_flows();
  look_at_steps();
  look_at_accounts();
  for (const Inspection& inspection : inspections_) {
    const std::string wrong = inspection(*network_);
    if (!wrong.empty()) throw std::runtime_error(wrong);
  }
}

void Watch::look_at_steps() {
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network_->is_running(side)) continue;
    GatewayNode& node = network_->gateway(side);
    if (node.most_visited() > gateway::Gateway::kMostVisited) {
      throw std::runtime_error(node.name() + " went over " + std::to_string(node.most_visited()) +
                               " objects in one step");
    }
    if (node.most_worked() > gateway::Gateway::kMostWorked) {
      throw std::runtime_error(node.name() + " worked " + std::to_string(node.most_worked()) +
                               " ns on octets in one step");
    }
  }
}

void Watch::look_at_accounts() {
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network_->is_running(side)) continue;
    const auto difference = network_->gateway(side).audit();
    if (difference) throw std::runtime_error(network_->gateway(side).name() + ": " + *difference);
  }
}

// Whether the link or a gateway is down, or has just come back, so that flows may make no progress.
bool Watch::is_disturbed() const {
  const Scenario& scenario = network_->scenario();
  const Instant now = network_->loop().now();
  const auto covers = [now](Instant from, Duration length) {
    return now >= from && now <= from + length + kInterval;
  };
  return std::ranges::any_of(scenario.outages,
                             [&](const Outage& o) { return covers(o.when, o.length); }) ||
         std::ranges::any_of(scenario.restarts,
                             [&](const Restart& r) { return covers(r.when, r.down); });
}

void Watch::look_at_flows() {
  ways_.resize(2 * network_->flow_count());
  const Instant now = network_->loop().now();
  const bool disturbed = is_disturbed();
  const Scenario& scenario = network_->scenario();
  for (std::size_t i = 0; i < network_->flow_count(); ++i) {
    const FlowResult& flow = network_->flow(i);
    const FlowSpec& spec = network_->spec(i);
    const bool over = flow.client.ended || flow.server.ended || !flow.client.started;
    // The hosts of an excused flow may wait for bytes that never arrive, until they time out.
    const bool excused =
        flow.client.vanished || flow.server.vanished || spec.client_plan.dead_after ||
        spec.server_plan.dead_after ||
        std::ranges::any_of(scenario.restarts, [&](const Restart& r) {
          return now >= r.when && flow.client.started_at <= r.when + r.down + kInterval;
        });
    if (over || excused || disturbed) {
      ways_[2 * i].since = ways_[2 * i + 1].since = now;
      continue;
    }
    look_at(i, ways_[2 * i], flow.client, flow.server);
    look_at(i, ways_[2 * i + 1], flow.server, flow.client);
  }
}

// When a gateway abandons a flow, it sends a RST only once, and a lossy cable may lose that RST.
// Once all bytes of a host are acknowledged, the host sends no more segments that the gateway could
// answer with another RST. The host then waits until it times out.
bool Watch::may_have_lost_a_reset(std::size_t flow, const Outcome& sender) const {
  const Side side = &sender == &network_->flow(flow).client
                        ? network_->spec(flow).client_side
                        : opposite(network_->spec(flow).client_side);
  const bool is_lossless =
      network_->scenario().station(side).cable.loss == 0 && network_->lan(side).lost() == 0;
  if (!sender.asks_nothing || is_lossless) return false;
  return std::ranges::none_of(std::array{Side::kA, Side::kB}, [&](Side s) {
    return network_->is_running(s) &&
           find_flow(network_->gateway(s), network_->flow(flow).pair, network_->loop().now());
  });
}

void Watch::look_at(std::size_t flow, Way& way, const Outcome& sender, const Outcome& receiver) {
  const Instant now = network_->loop().now();
  const bool moved = way.arrived != receiver.arrived || way.ended != receiver.saw_end;
  const bool reads = receiver.received == receiver.arrived;
  const bool owed = sender.established &&
                    (sender.written > receiver.received || (sender.closed && !receiver.saw_end));
  if (moved || !reads || !owed) {
    way = {receiver.arrived, receiver.saw_end, now};
    return;
  }
  if (now - way.since < kStandstill) return;
  if (may_have_lost_a_reset(flow, sender)) {
    way.since = now;
    return;
  }
  std::string seen;
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network_->is_running(side)) continue;
    seen += as_seen_by(network_->gateway(side), network_->flow(flow).pair, now);
  }
  throw std::runtime_error(
      "flow " + std::to_string(flow) + " (from " +
      (network_->spec(flow).client_side == Side::kA ? "A" : "B") + "): stands still towards the " +
      (&receiver == &network_->flow(flow).server ? "server" : "client") + "\n      wrote " +
      std::to_string(sender.written) + ", got " + std::to_string(receiver.received) + " after " +
      std::to_string((now - Instant()).to_milliseconds() / 1000) + " s" + seen);
}

}  // namespace satrelay::sim
