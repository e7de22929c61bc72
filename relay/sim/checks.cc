#include "relay/sim/checks.h"

#include <algorithm>
#include <exception>

namespace satrelay::sim {
namespace {

using gateway::Counter;

std::string describe(const Outcome& o) {
  std::string text = o.started ? "started" : "not started";
  if (o.established) text += ", established";
  text += ", wrote " + std::to_string(o.written) + ", got " + std::to_string(o.received);
  if (o.closed) text += ", closed";
  if (o.sent_all) text += ", all acknowledged";
  if (o.saw_end) text += ", saw the end";
  if (o.started && !o.ended && o.arrived > o.received) {
    text += ", has " + std::to_string(o.arrived - o.received) + " unread";
  }
  if (o.aborted) text += ", aborted";
  if (o.gave_up) text += ", gave up";
  if (o.vanished) text += ", vanished";
  if (!o.ended) text += ", not ended";
  switch (o.reason) {
    case tcp::CloseReason::kNone:
      break;
    case tcp::CloseReason::kResetByPeer:
      text += ", reset by peer";
      break;
    case tcp::CloseReason::kRefused:
      text += ", refused";
      break;
    case tcp::CloseReason::kTimeout:
      text += ", timed out";
      break;
    case tcp::CloseReason::kAborted:
      text += ", by own RST";
      break;
  }
  return text;
}

// One flow, with what may be held against it.
class FlowCheck {
 public:
  struct Circumstances {
    bool rst_may_get_lost = false;
    bool far_table_may_be_full = false;
    bool caught_by_restart = false;
    bool outlasted = false;   // by an outage, while it was being opened
    bool end_to_end = false;  // what is acknowledged has arrived
  };
  FlowCheck(std::size_t index, const FlowSpec& spec, const FlowResult& result,
            const Circumstances& circumstances, std::vector<std::string>& broken)
      : index_(index),
        spec_(spec),
        client_(result.client),
        server_(result.server),
        rst_may_get_lost_(circumstances.rst_may_get_lost),
        far_table_may_be_full_(circumstances.far_table_may_be_full),
        caught_by_restart_(circumstances.caught_by_restart),
        outlasted_(circumstances.outlasted),
        end_to_end_(circumstances.end_to_end),
        broken_(broken) {}

  void check() {
    if (!client_.started) {
      expect(client_.vanished, "never started");
      return;
    }
    bytes(client_, spec_.server_plan, "client");
    bytes(server_, spec_.client_plan, "server");
    expect(client_.ended || client_.vanished, "client left hanging");
    expect(!server_.started || server_.ended || server_.vanished, "server left hanging");
    if (caught_by_restart_) {
      // Whoever was caught by one is reset, now or when it next sends; nobody was lied to.
    } else if (spec_.client_plan.dead_after || spec_.server_plan.dead_after) {
      // The other host loses patience, or the gateway does, and then this one is told.
      const Outcome& dead = spec_.client_plan.dead_after ? client_ : server_;
      expect(!dead.gave_up || rst_may_get_lost_,
             "nobody told the host of a program that hangs that its peer had gone");
    } else if (client_.vanished || server_.vanished) {
      one_side_vanished();
    } else if (spec_.server == Server::kRefuses) {
      refused();
    } else if (client_.aborted || server_.aborted) {
      if (client_.aborted) reset_reaches(client_, server_, "client", "server");
      if (server_.aborted) reset_reaches(server_, client_, "server", "client");
    } else if (outlasted_ && !client_.established && client_.reason == tcp::CloseReason::kTimeout) {
      expect(!server_.saw_end, "an end of what was never opened");
    } else if (far_table_may_be_full_ &&
               (client_.was_reset() || (client_.gave_up && rst_may_get_lost_))) {
      expect(!client_.saw_end && !server_.saw_end, "refused by a full table, yet saw a clean end");
    } else {
      clean(client_, spec_.server_plan, "client");
      expect(server_.started, "server saw no connection");
      clean(server_, spec_.client_plan, "server");
    }
  }

 private:
  void expect(bool holds, const std::string& what) {
    if (holds) return;
    broken_.push_back("flow " + std::to_string(index_) + " (from " +
                      (spec_.client_side == Side::kA ? "A" : "B") + "): " + what +
                      "\n      client: " + describe(client_) +
                      "\n      server: " + describe(server_));
  }
  void bytes(const Outcome& o, const Plan& peer, const std::string& who) {
    expect(!o.first_wrong_byte,
           who + " got a wrong byte at " + std::to_string(o.first_wrong_byte.value_or(0)));
    expect(o.received <= peer.send_bytes, who + " got more than was sent");
    expect(!o.saw_end || o.received == peer.send_bytes, who + " saw the end too early");
    expect(!o.first_early_byte, who + " got what was not sent yet");
    expect(!o.end_came_early, who + " saw an end that was not there");
    expect(!end_to_end_ || !o.first_early_acknowledgment,
           who + " had acknowledged what had not arrived, against the rule");
  }
  void clean(const Outcome& o, const Plan& peer, const std::string& who) {
    expect(o.reason == tcp::CloseReason::kNone, who + " of a clean flow did not end clean");
    expect(o.received == peer.send_bytes, who + " did not get every byte");
    expect(o.saw_end && o.sent_all, who + " did not see both directions close");
  }
  void refused() {
    expect(!server_.started, "a refusing server has a connection");
    expect(client_.was_reset() || client_.aborted || (rst_may_get_lost_ && !client_.saw_end),
           "refusal did not reach the client as a reset");
    expect(client_.received == 0 && !client_.saw_end, "a refused client heard something");
  }
  void reset_reaches(const Outcome& who, const Outcome& peer, const std::string& name,
                     const std::string& peer_name) {
    if (!who.closed) {
      expect(!peer.saw_end,
             "the reset of the " + name + " looked like a clean end to the " + peer_name);
    }
    if (!peer.started || peer.aborted) return;
    const bool was_over = peer.saw_end && peer.sent_all && who.closed;
    expect(peer.was_reset() || was_over || rst_may_get_lost_,
           "the reset of the " + name + " did not reach the " + peer_name);
  }
  void one_side_vanished() {
    const Outcome& gone = client_.vanished ? client_ : server_;
    const Outcome& left = client_.vanished ? server_ : client_;
    if (left.vanished || !left.started) return;
    if (!gone.closed) expect(!left.saw_end, "a vanished host seemed to close in order");
    expect(!left.gave_up || rst_may_get_lost_, "nobody told that the host had vanished");
  }

  std::size_t index_;
  const FlowSpec& spec_;
  const Outcome& client_;
  const Outcome& server_;
  bool rst_may_get_lost_;
  bool far_table_may_be_full_;
  bool caught_by_restart_;
  bool outlasted_;
  bool end_to_end_;
  std::vector<std::string>& broken_;
};

// While a gateway is away, and until the other has noticed that it is back, flows are bridged,
// reset or wait; those that were over before, or began later, know nothing of it.
bool is_caught_by_restart(const Scenario& scenario, const FlowResult& flow) {
  constexpr Duration kUntilAllIsWell = Duration::seconds(20);
  if (!flow.client.started) return true;
  for (const Restart& restart : scenario.restarts) {
    const bool was_over = flow.over() && flow.client.ended_at < restart.when &&
                          (!flow.server.started || flow.server.ended_at < restart.when);
    const bool began_later = flow.client.started_at > restart.when + restart.down + kUntilAllIsWell;
    if (!was_over && !began_later) return true;
  }
  return false;
}

// A SYN that crosses the link, bridged or to be answered by the far host, is repeated for two
// minutes, ever more rarely.
bool is_outlasted(const Scenario& scenario, const FlowResult& flow) {
  constexpr Duration kManySyns = Duration::seconds(20);
  return std::ranges::any_of(scenario.outages, [&](const Outage& outage) {
    return outage.length >= kManySyns && flow.client.started_at < outage.when + outage.length &&
           flow.client.ended_at > outage.when;
  });
}

bool is_end_to_end(const Scenario& scenario, const FlowSpec& flow) {
  for (const config::Rule& rule : scenario.rules) {
    bool matches = rule.match.port.empty();
    for (const config::PortRange& range : rule.match.port) {
      matches = matches || (flow.server_port >= range.first && flow.server_port <= range.last);
    }
    if (matches) return rule.modes.ack == config::AckMode::kEndToEnd;
  }
  return false;
}

void check_sessions(Network& network, std::vector<std::string>& broken) {
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network.is_running(side)) continue;
    for (const auto& peer : network.gateway(side).engine().peers()) {
      const stp::Counters& c = peer.counters;
      const std::string who = network.gateway(side).name() + ": ";
      // A flipped bit may fall where it is noticed before the CRC is looked at.
      const bool flips = network.scenario().a_to_b.corrupt + network.scenario().b_to_a.corrupt > 0;
      if (c.malformed != 0 && !flips) {
        broken.push_back(who + std::to_string(c.malformed) + " malformed STP packets");
      }
      if (c.unknown_frames != 0) broken.push_back(who + "unknown STP frames");
      if (c.credit_violations != 0) broken.push_back(who + "credit was overdrawn");
      if (c.peer_restarts != 0 && network.scenario().restarts.empty())
        broken.push_back(who + "took the peer for restarted");
    }
  }
}

}  // namespace

std::vector<std::string> check_flows(Network& network) {
  std::vector<std::string> broken;
  const Scenario& scenario = network.scenario();
  // A reset is not acknowledged: where the way between it and its host loses frames, the host may
  // have to find out by itself.
  FlowCheck::Circumstances circumstances;
  circumstances.rst_may_get_lost = scenario.stations[0].cable.loss > 0 ||
                                   scenario.stations[1].cable.loss > 0 ||
                                   network.bridged_tcp() > 0 || !scenario.gateways_present;
  circumstances.far_table_may_be_full = network.counted(Counter::kFlowsResetNoResources) > 0;
  for (std::size_t i = 0; i < network.flow_count(); ++i) {
    circumstances.caught_by_restart = is_caught_by_restart(scenario, network.flow(i));
    circumstances.outlasted = is_outlasted(scenario, network.flow(i));
    circumstances.end_to_end = is_end_to_end(scenario, network.spec(i));
    FlowCheck(i, network.spec(i), network.flow(i), circumstances, broken).check();
  }
  check_sessions(network, broken);
  return broken;
}

std::vector<std::string> check_memory(Network& network) {
  std::vector<std::string> broken;
  const Instant now = network.loop().now();
  for (const Side side : {Side::kA, Side::kB}) {
    if (network.is_running(side)) {
      GatewayNode& node = network.gateway(side);
      const auto status = node.engine().status(now);
      if (node.engine().flow_count() != 0) {
        broken.push_back(node.name() + " still has " + std::to_string(node.engine().flow_count()) +
                         " flows");
      }
      if (node.engine().held_frames() != 0) broken.push_back(node.name() + " holds bridged frames");
      if (status.half_open != 0) broken.push_back(node.name() + " counts half-open flows");
      if (status.arena_used != 0) {
        broken.push_back(node.name() + " still holds " + std::to_string(status.arena_used) +
                         " bytes");
      }
      for (const auto& peer : node.engine().peers()) {
        if (peer.streams != 0 || peer.bytes_stored != 0) {
          broken.push_back(node.name() + " still has " + std::to_string(peer.streams) +
                           " streams and " + std::to_string(peer.bytes_stored) + " bytes of them");
        }
      }
    }
    for (std::size_t i = 0; i < network.scenario().station(side).hosts.size(); ++i) {
      SimHost& host = network.host(side, i);
      if (host.connection_count() != 0 || host.memory_used_blocks() != 0) {
        broken.push_back(host.spec().name + " still has " +
                         std::to_string(host.connection_count()) + " connections and " +
                         std::to_string(host.memory_used_blocks()) + " blocks");
      }
    }
  }
  return broken;
}

std::vector<std::string> stop_and_check_frames(Network& network) {
  const std::size_t frames = network.frames_left_over();
  if (frames == 0) return {};
  return {std::to_string(frames) + " frames are neither delivered nor free"};
}

std::string kind_of(const std::string& broken) {
  std::string kind = broken.substr(0, broken.find('\n'));
  if (kind.starts_with("flow ")) kind.erase(0, kind.find("): ") + 3);
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  return kind;
}

std::vector<std::string> run_and_check(Network& network) {
  try {
    // Beyond every timer: patience of the hosts and idle timeouts of the gateways, twice.
    network.run_until_flows_over(Instant() + Duration::seconds(4'000));
    network.run_until_drained(network.loop().now() + Duration::seconds(1'500));
  } catch (const std::exception& error) {
    return {error.what()};
  }
  std::vector<std::string> broken = check_flows(network);
  const std::vector<std::string> memory = check_memory(network);
  broken.insert(broken.end(), memory.begin(), memory.end());
  return broken;
}

}  // namespace satrelay::sim
