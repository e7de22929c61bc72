#include "relay/sim/scenarios/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "relay/sim/adversaries/tricks.h"

namespace satrelay::sim {
namespace {

const char* name_of(Side side) { return side == Side::kA ? "A" : "B"; }

std::string seconds(Duration duration) { return fmt::format("{:.3f} s", duration.to_seconds()); }
std::string milliseconds(Duration duration) {
  return fmt::format("{:.6g} ms", duration.to_seconds() * 1000);
}
std::string rate_of(BitRate rate) {
  return fmt::format("{:.6g} Mbit/s", static_cast<double>(rate.to_bits_per_second()) / 1e6);
}

std::string link(const config::LinkDirection& way) {
  std::string text = rate_of(way.rate) + ", " + milliseconds(way.delay);
  if (way.loss > 0) text += fmt::format(", loss {:.4f}", way.loss);
  if (way.gilbert_elliott) {
    text += fmt::format(", bursts {:.4f} {:.2f}", way.gilbert_elliott->good_to_bad,
                        way.gilbert_elliott->bad_to_good);
  }
  if (way.jitter > Duration::zero()) text += ", jitter " + milliseconds(way.jitter);
  if (way.reorder > 0) {
    text += fmt::format(", reorder {:.4f} by ", way.reorder) + milliseconds(way.reorder_by);
  }
  if (way.duplicate > 0) text += fmt::format(", duplicate {:.4f}", way.duplicate);
  if (way.corrupt > 0) text += fmt::format(", corrupt {:.5f}", way.corrupt);
  for (const config::DelayStep& step : way.delay_steps) {
    text += ", " + milliseconds(step.delay) + " from " + seconds(step.at);
  }
  for (const config::RateStep& step : way.rate_steps) {
    text += ", " + rate_of(step.rate) + " from " + seconds(step.at);
  }
  return text;
}

std::string station(const Station& station) {
  const config::Limits& limits = station.limits;
  return "cables " + link(station.cable) +
         fmt::format(
             "; memory {} KiB, of a flow {} KiB, host window {} KiB, flows {}, half-open "
             "{}, tick ",
             limits.memory.value() >> 10, limits.flow_memory.value() >> 10,
             limits.host_window.value() >> 10, limits.flows, limits.half_open) +
         milliseconds(station.tick) +
         (station.workers == 1 ? std::string() : fmt::format(", workers {}", station.workers));
}

std::string host(const HostSpec& host) {
  std::string text =
      fmt::format("mss {}, send {}, receive {}, window scale {}", host.tcp.mss, host.tcp.send_limit,
                  host.tcp.receive_limit, host.tcp.window_scale);
  text += std::string(", ") + sim::name_of(host.tcp.congestion);
  if (!host.offer_window_scale) text += ", without window scale";
  if (!host.offer_sack) text += ", without SACK";
  if (!host.offer_timestamps) text += ", without timestamps";
  if (host.addresses.vlan) text += fmt::format(", VLAN {}", host.addresses.vlan->vlan_id());
  return text;
}

std::string rule(const config::Rule& rule) {
  std::string text = rule.action == config::Action::kBridge ? "bridge" : "accelerate";
  for (const config::PortRange& range : rule.match.port) {
    text += fmt::format(" port {}-{}", range.first, range.last);
  }
  constexpr const char* kCompress[] = {"off", "auto", "on"};
  text += std::string(", compress ") + kCompress[static_cast<std::size_t>(rule.compress)];
  if (!rule.traffic_class.empty()) text += ", class " + rule.traffic_class;
  if (rule.modes.handshake == config::HandshakeMode::kRemote) text += ", handshake remote";
  if (rule.modes.ack == config::AckMode::kEndToEnd) text += ", ack end-to-end";
  if (rule.modes.close == config::CloseMode::kConfirmed) text += ", close confirmed";
  if (rule.modes.window == config::WindowMode::kMirror) text += ", window mirror";
  if (rule.modes.delivery == config::DeliveryMode::kPrompt) text += ", delivery prompt";
  return text;
}

std::string traffic_class(const config::TrafficClass& one) {
  std::string text = fmt::format("weight {}", one.weight);
  if (!one.guaranteed.is_zero()) text += ", guaranteed " + rate_of(one.guaranteed);
  if (!one.maximum.is_zero()) text += ", maximum " + rate_of(one.maximum);
  return text;
}

std::string plan(const Plan& plan) {
  std::string text = fmt::format("sends {}", plan.send_bytes);
  if (plan.send_after > 0) {
    text += fmt::format(" after {}", plan.send_after);
  }
  if (plan.send_after_end) text += " after the other's end";
  if (plan.chunk > 0) {
    text += fmt::format(", {} every ", plan.chunk) + milliseconds(plan.interval);
  }
  if (!plan.read_rate.is_zero()) {
    text += ", reads " + rate_of(plan.read_rate) + " after " + seconds(plan.read_pause);
  }
  if (plan.dead_after) {
    text += fmt::format(", hangs having read {}", *plan.dead_after);
  }
  if (!plan.abort_after.is_infinite()) text += ", resets after " + seconds(plan.abort_after);
  switch (plan.finish) {
    case Finish::kWhenSent:
      return text + ", closes when sent";
    case Finish::kWhenPeerFinished:
      return text + ", closes after the other";
    case Finish::kAbortWhenSent:
      return text + ", resets when sent";
    case Finish::kAbortWhenReceived:
      break;
  }
  return text + fmt::format(", resets having read {}", plan.abort_at);
}

std::string flow(const FlowSpec& flow, std::size_t index) {
  return fmt::format("flow {} from {}, host {} to {}, IPv{}, port {}{}; client ", index,
                     name_of(flow.client_side), flow.client_host, flow.server_host,
                     flow.version == IpVersion::kV4 ? 4 : 6, flow.server_port,
                     flow.server == Server::kRefuses ? ", refused" : "") +
         plan(flow.client_plan) + "; server " + plan(flow.server_plan);
}

const char* ways(config::LinkWays ways) {
  constexpr const char* kNames[] = {"both ways", "from A to B", "from B to A"};
  return kNames[static_cast<std::size_t>(ways)];
}

using Timed = std::pair<Instant, std::string>;

std::vector<Timed> schedule(const Scenario& scenario) {
  std::vector<Timed> lines;
  for (std::size_t i = 0; i < scenario.flows.size(); ++i) {
    lines.emplace_back(scenario.flows[i].start, flow(scenario.flows[i], i));
  }
  for (const Outage& outage : scenario.outages) {
    lines.emplace_back(
        outage.when, std::string("outage ") + ways(outage.ways) + " for " + seconds(outage.length));
  }
  for (const Restart& restart : scenario.restarts) {
    std::string text = std::string("gateway ") + name_of(restart.side) +
                       (restart.stop == Stop::kKilled ? " is killed" : " shuts down") +
                       ", starts again after " + seconds(restart.down);
    if (restart.memory) {
      text += fmt::format(" with {} KiB", restart.memory->value() >> 10);
    }
    lines.emplace_back(restart.when, text);
  }
  for (const Vanishing& vanishing : scenario.vanishings) {
    lines.emplace_back(vanishing.when, fmt::format("host {} of {} vanishes", vanishing.host,
                                                   name_of(vanishing.side)));
  }
  for (const Absence& absence : scenario.absences) {
    lines.emplace_back(absence.when, fmt::format("worker {} of gateway {} is away for ",
                                                 absence.worker, name_of(absence.side)) +
                                         milliseconds(absence.length));
  }
  for (const Shrinking& shrinking : scenario.shrinkings) {
    lines.emplace_back(
        shrinking.when,
        fmt::format("host {} of {} has room for {} bytes a connection", shrinking.host,
                    name_of(shrinking.side), shrinking.receive_limit));
  }
  if (const auto& hostile = scenario.hostile_peer) {
    lines.emplace_back(hostile->from,
                       fmt::format("a hostile peer of gateway {} makes {} packets in ",
                                   name_of(hostile->victim), hostile->packets) +
                           seconds(hostile->length) + ": " + names_of_peer_tricks(hostile->tricks));
  }
  for (const Forging& forging : scenario.forgings) {
    lines.emplace_back(
        forging.from,
        fmt::format("a host of {} forges {} frames in ", name_of(forging.side), forging.frames) +
            seconds(forging.length) + ": " + names_of_lan_tricks(forging.tricks));
  }
  std::ranges::stable_sort(lines, {}, &Timed::first);
  return lines;
}

}  // namespace

std::string describe(const Scenario& scenario) {
  std::string text = "a>b " + link(scenario.a_to_b) + "\nb>a " + link(scenario.b_to_a) + "\n";
  text += fmt::format(
      "overhead {}, STP MTU {}, {}{}{}\n", scenario.overhead, scenario.stp.mtu,
      scenario.static_neighbours ? "neighbours known" : "neighbours found with ARP, ND",
      scenario.journal ? ", journals kept" : "", scenario.encrypts ? ", encrypted" : "");
  for (const Side side : {Side::kA, Side::kB}) {
    text += std::string("station ") + name_of(side) + ": " + station(scenario.station(side)) + "\n";
    const auto& hosts = scenario.station(side).hosts;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const auto uses = [&](const FlowSpec& flow) {
        return i == (flow.client_side == side ? flow.client_host : flow.server_host);
      };
      if (std::ranges::none_of(scenario.flows, uses)) continue;
      text += fmt::format("host {} of {}: ", i, name_of(side)) + host(hosts[i]) + "\n";
    }
  }
  for (const config::TrafficClass& one : scenario.classes) {
    text += "class " + one.name + ": " + traffic_class(one) + "\n";
  }
  for (const config::Rule& one : scenario.rules) text += "rule: " + rule(one) + "\n";
  for (const auto& [when, line] : schedule(scenario)) {
    text += fmt::format("{:8.3f} s  ", (when - Instant()).to_seconds()) + line + "\n";
  }
  return text;
}

}  // namespace satrelay::sim
