#include "relay/sim/checks/excuses.h"

#include <algorithm>
#include <vector>

#include "relay/gateway/steering/share.h"

namespace satrelay::sim {
namespace {

using gateway::Counter;

constexpr int kSyns = 8;      // number of SYNs that a client sends if no answer arrives
constexpr int kByChance = 3;  // number of a connection's SYNs that may be lost by chance

const config::Rule* rule_of(const Scenario& scenario, const FlowSpec& flow) {
  for (const config::Rule& rule : scenario.rules) {
    bool matches = rule.match.port.empty();
    for (const config::PortRange& range : rule.match.port) {
      matches = matches || (flow.server_port >= range.first && flow.server_port <= range.last);
    }
    if (matches) return &rule;
  }
  return nullptr;
}

bool is_bridged_by_rule(const Scenario& scenario, const FlowSpec& flow) {
  const config::Rule* rule = rule_of(scenario, flow);
  return rule != nullptr && rule->action == config::Action::kBridge;
}

// A restart in which a gateway forgets all its flows.
struct Loss {
  Side side = Side::kA;
  Instant when;
};

std::vector<Loss> losses_of(const Scenario& scenario) {
  std::vector<Loss> losses;
  for (const Restart& restart : scenario.restarts) {
    losses.push_back({restart.side, restart.when});
    // At `end`, Network kills the gateway again before it starts it. If another restart had already
    // started the gateway before `end`, the flows since then are lost as well.
    const Instant end = restart.when + restart.down;
    const bool again = std::ranges::any_of(scenario.restarts, [&](const Restart& other) {
      const Instant others_end = other.when + other.down;
      return other.side == restart.side && others_end > restart.when && others_end < end;
    });
    if (again) losses.push_back({restart.side, end});
  }
  return losses;
}

// Whether the gateway that restarted knew the flow, or may have known it. If the client's gateway
// is down, no flow is accepted. If the far gateway is down, the client's gateway accepts flows
// until it suspects its peer.
bool is_caught_by(const Loss& loss, const Scenario& scenario, const FlowSpec& spec,
                  const FlowResult& flow) {
  // Time for a round trip and a PING, in addition to suspect_after.
  constexpr Duration kUntilMissed = Duration::seconds(2);
  const bool was_over = flow.over() && flow.client.ended_at < loss.when &&
                        (!flow.server.started || flow.server.ended_at < loss.when);
  if (was_over) return false;
  const Duration blind =
      loss.side == spec.client_side ? Duration::zero() : scenario.stp.suspect_after + kUntilMissed;
  return flow.client.started_at <= loss.when + blind;
}

// Whether too many of the client's SYNs were lost. If the SYN must cross the link, the client sends
// it up to eight times, at growing intervals. Three of these SYNs may be lost by chance.
bool are_syns_in_vain(const Scenario& scenario, const FlowResult& flow) {
  constexpr Duration kPath = Duration::seconds(2);  // a round trip, and repeated ARP or ND requests
  int in_vain = 0;
  for (int i = 0; i < kSyns; ++i) {
    const Instant sent = flow.client.started_at + Duration::seconds((1 << i) - 1);
    const auto falls = [&](Instant from, Duration length) {
      return sent + kPath >= from && sent <= from + length + kPath;
    };
    const bool lost =
        std::ranges::any_of(scenario.outages,
                            [&](const Outage& o) { return falls(o.when, o.length); }) ||
        std::ranges::any_of(scenario.restarts,
                            [&](const Restart& r) { return falls(r.when, r.down); });
    if (lost) ++in_vain;
  }
  return in_vain >= kSyns - kByChance;
}

// Whether the first SYN, or the packets after it, fell into an outage that lasts longer than a
// handshake may take.
bool is_handshake_outlasted(const Scenario& scenario, const FlowResult& flow) {
  constexpr Duration kLongestHandshake = Duration::seconds(127);
  // Time for a handshake, including repetitions of lost SYNs.
  constexpr Duration kHandshake = Duration::seconds(10);
  return std::ranges::any_of(scenario.outages, [&](const Outage& outage) {
    return outage.length + kHandshake > kLongestHandshake &&
           flow.client.started_at + kHandshake >= outage.when &&
           flow.client.started_at <= outage.when + outage.length;
  });
}

// Whether all SYNs were lost: some in a full queue of bridged frames, the others on the link.
bool are_syns_lost(Network& network, const FlowResult& flow) {
  return network.counted(Counter::kDroppedBridgedQueue) + flow.crossed_raw >= kSyns &&
         !flow.server.started && !flow.client.established && flow.lost_raw >= kByChance &&
         flow.lost_raw == flow.crossed_raw;
}

// Whether the gateways' queues and the link dropped so many bridged frames that, on average, each
// bridged connection has lost kByChance frames.
bool is_link_overfull(Network& network, const FlowResult& flow) {
  const bool was_bridged =
      flow.crossed_raw > 0 || (!flow.server.started && !flow.client.established);
  std::uint64_t dropped = network.counted(Counter::kDroppedBridgedQueue) +
                          network.counted(Counter::kDroppedBridgedLate);
  std::uint64_t bridged = 1;
  for (std::size_t i = 0; i < network.scenario().flows.size(); ++i) {
    dropped += network.flow(i).lost_raw;
    if (network.flow(i).crossed_raw > 0) ++bridged;
  }
  return was_bridged && dropped >= kByChance * bridged;
}

bool is_forgotten(const Scenario& scenario, const FlowSpec& spec, const FlowResult& flow) {
  bool caught[2] = {false, false};
  for (const Loss& loss : losses_of(scenario)) {
    if (!is_caught_by(loss, scenario, spec, flow)) continue;
    caught[static_cast<std::size_t>(loss.side)] = true;
  }
  if (caught[0] && caught[1] && !scenario.journal) return true;
  return std::ranges::any_of(scenario.stations, [&](const Station& station) {
    return gateway::part_of(station.limits.flows, station.workers) < scenario.flows.size();
  });
}

bool may_miss_reset(Network& network, std::size_t flow, Side side) {
  return network.scenario().station(side).cable.loss > 0 || network.lan(side).lost() > 0 ||
         network.flow(flow).crossed_raw > 0;
}

}  // namespace

Excuses excuses_of(Network& network, std::size_t index) {
  const Scenario& scenario = network.scenario();
  const FlowSpec& spec = network.spec(index);
  const FlowResult& flow = network.flow(index);
  Excuses excuses;
  excuses.client_may_miss_reset = may_miss_reset(network, index, spec.client_side);
  excuses.server_may_miss_reset = may_miss_reset(network, index, opposite(spec.client_side));
  // If a rule bridges the flow, the gateways keep no state for it. A restart then costs only the
  // frames that arrive while a gateway is down.
  excuses.caught_by_restart = !is_bridged_by_rule(scenario, spec) &&
                              std::ranges::any_of(losses_of(scenario), [&](const Loss& loss) {
                                return is_caught_by(loss, scenario, spec, flow);
                              });
  excuses.forgotten = is_forgotten(scenario, spec, flow);
  excuses.syns_in_vain = are_syns_in_vain(scenario, flow) || are_syns_lost(network, flow);
  excuses.handshake_outlasted = is_handshake_outlasted(scenario, flow);
  excuses.ack_of_cookie_may_be_lost = network.counted(Counter::kSynCookiesSent) > 0 &&
                                      scenario.station(spec.client_side).cable.loss > 0;
  const config::Rule* rule = rule_of(scenario, spec);
  // With a remote handshake, the gateway does not refuse the flow but bridges the next SYN. A
  // gateway may also have no room for a flow when the ACK with the cookie arrives.
  excuses.far_table_may_be_full =
      network.counted(Counter::kFlowsResetNoResources) +
              network.counted(Counter::kResetAfterCookie) >
          0 &&
      !is_bridged_by_rule(scenario, spec) &&
      (rule == nullptr || rule->modes.handshake == config::HandshakeMode::kLocal);
  excuses.may_end_for_room = network.counted(Counter::kFlowsResetForRoom) > 0;
  excuses.link_is_overfull = is_link_overfull(network, flow);
  excuses.end_to_end = rule != nullptr && rule->modes.ack == config::AckMode::kEndToEnd;
  return excuses;
}

bool has_outlived_time_wait(Network& network, std::size_t index, const Outcome& left) {
  const FlowResult& flow = network.flow(index);
  const FlowSpec& spec = network.spec(index);
  const bool client_left = &left == &flow.client;
  const Outcome& gone = client_left ? flow.server : flow.client;
  const Plan& plan = client_left ? spec.client_plan : spec.server_plan;
  const Side side = client_left ? opposite(spec.client_side) : spec.client_side;
  const std::size_t host = client_left ? spec.server_host : spec.client_host;
  // With `close: confirmed`, the host's TCP peer is the gateway. The gateway does not acknowledge
  // the FIN until the far host has received the FIN.
  const config::Rule* rule = rule_of(network.scenario(), spec);
  const bool is_held = rule != nullptr && rule->modes.close == config::CloseMode::kConfirmed &&
                       network.scenario().station(opposite(side)).cable.loss > 0;
  const bool ended_well =
      gone.ended && gone.reason == tcp::CloseReason::kNone && gone.received == plan.send_bytes;
  return (flow.crossed_raw > 0 || is_held) && ended_well && gone.closed_at != Instant() &&
         left.closed && left.saw_end && left.was_reset() &&
         left.ended_at >= gone.closed_at + network.host(side, host).spec().tcp.time_wait;
}

bool peers_are_never_given_up(const Scenario& scenario) {
  Duration silent = scenario.stp.suspect_after;
  for (const Outage& outage : scenario.outages) silent = silent + outage.length;
  for (const Restart& restart : scenario.restarts) silent = silent + restart.down;
  return silent < scenario.stp.give_up_after;
}

}  // namespace satrelay::sim
