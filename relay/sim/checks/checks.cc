#include "relay/sim/checks/checks.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "relay/sim/adversaries/tricks.h"
#include "relay/sim/checks/excuses.h"
#include "relay/sim/network/network_addresses.h"

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
    case tcp::CloseReason::kUnreachable:
      text += ", unreachable";
      break;
    case tcp::CloseReason::kAborted:
      text += ", by own RST";
      break;
  }
  return text;
}

// Checks one flow. The excuses list the failures of the flow that its scenario allows.
class FlowCheck {
 public:
  FlowCheck(Network& network, std::size_t index, std::vector<std::string>& broken)
      : network_(network),
        index_(index),
        spec_(network.spec(index)),
        client_(network.flow(index).client),
        server_(network.flow(index).server),
        excuses_(excuses_of(network, index)),
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
    if (excuses_.caught_by_restart) {
      caught_by_restart();
    } else if (spec_.client_plan.dead_after || spec_.server_plan.dead_after) {
      // The other host times out and sends a RST. The gateway must then reset the host on which the
      // program hangs. But if the other host has closed in order, it knows no connection and never
      // sends a RST. The gateway then waits as long as the host with the hanging program answers.
      const Outcome& dead = spec_.client_plan.dead_after ? client_ : server_;
      const Outcome& other = spec_.client_plan.dead_after ? server_ : client_;
      const bool is_gone = other.closed && other.reason == tcp::CloseReason::kNone;
      expect(!dead.gave_up || is_gone || may_miss_reset(dead),
             "the host of a program that hangs did not learn that its peer had gone");
    } else if (client_.vanished || server_.vanished) {
      one_side_vanished();
    } else if (spec_.server == Server::kRefuses) {
      refused();
    } else if (client_.aborted || server_.aborted) {
      if (client_.aborted) reset_reaches(client_, server_, "client", "server");
      if (server_.aborted) reset_reaches(server_, client_, "server", "client");
    } else if (was_never_opened()) {
      expect(!client_.saw_end && !server_.saw_end,
             "a host saw the end of a connection that was never opened");
    } else if (excuses_.far_table_may_be_full && !server_.started &&
               (client_.was_reset() || (client_.gave_up && excuses_.client_may_miss_reset))) {
      refused_for_want_of_room_ = true;
      expect(client_.received == 0 && !client_.saw_end,
             "received something although it was refused");
    } else if (excuses_.may_end_for_room && (client_.was_reset() || server_.was_reset())) {
      ended_for_room_ = true;
    } else if (excuses_.link_is_overfull && (has_timed_out(client_) || has_timed_out(server_))) {
      expect(!client_.saw_end && !server_.saw_end,
             "a host saw the end of a connection that timed out");
    } else {
      clean(client_, spec_.server_plan, "client");
      expect(server_.started, "server saw no connection");
      clean(server_, spec_.client_plan, "server");
    }
  }

  bool refused_for_want_of_room() const { return refused_for_want_of_room_; }
  bool ended_for_room() const { return ended_for_room_; }

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
    expect(!excuses_.end_to_end || !o.first_early_acknowledgment,
           who + " got an acknowledgment for bytes that had not arrived, against the rule");
  }
  // Whether neither end accepted the other's SYN in time. Servers repeat SYN-ACKs for a shorter
  // time than clients repeat SYNs. So if the client accepts the SYN-ACK at the last moment, the
  // server may have timed out unnoticed, or may refuse the client.
  bool was_never_opened() const {
    using tcp::CloseReason;
    // The server's host timed out just before the handshake was complete.
    const bool late = server_.reason == CloseReason::kTimeout &&
                      (client_.reason == CloseReason::kRefused || client_.was_reset());
    const bool client_gave_up =
        client_.established ? client_.gave_up : client_.reason == CloseReason::kTimeout;
    const bool cookie_lost = excuses_.ack_of_cookie_may_be_lost && !server_.started &&
                             client_.established && client_.gave_up && client_.written == 0;
    const bool given_up = excuses_.handshake_outlasted && !client_.established &&
                          client_.received + server_.received == 0;
    return cookie_lost || given_up ||
           (excuses_.syns_in_vain && !server_.established && (client_gave_up || late));
  }
  bool may_miss_reset(const Outcome& o) const {
    return &o == &client_ ? excuses_.client_may_miss_reset : excuses_.server_may_miss_reset;
  }
  static bool has_timed_out(const Outcome& o) { return o.reason == tcp::CloseReason::kTimeout; }
  void clean(const Outcome& o, const Plan& peer, const std::string& who) {
    const bool outlived = has_outlived_time_wait(network_, index_, o);
    expect(o.reason == tcp::CloseReason::kNone || outlived,
           who + " of a flow without faults did not close in order");
    expect(o.received == peer.send_bytes, who + " did not get every byte");
    expect(o.saw_end && (o.sent_all || outlived), who + " did not see both directions close");
  }
  // After a restart, a host's connection either continues or is reset, at once or when the host
  // next sends. No host may hang if the other gateway still knew the flow. The other gateway does
  // not know a flow that never reached its host. Without a journal, it also forgets the flow when
  // its host has left and all bytes of that host are acknowledged.
  void caught_by_restart() {
    expect_not_hung(client_, server_, spec_.client_plan, "client");
    expect_not_hung(server_, client_, spec_.server_plan, "server");
  }
  void expect_not_hung(const Outcome& o, const Outcome& peer, const Plan& plan,
                       const std::string& who) {
    const bool has_left =
        peer.vanished || peer.aborted || (peer.ended && peer.reason == tcp::CloseReason::kNone);
    const bool unknown = !peer.started || (has_left && !network_.scenario().journal);
    expect(!o.gave_up || unknown || plan.dead_after || may_miss_reset(o) || excuses_.forgotten,
           who + " of a restarted gateway hung");
  }
  void refused() {
    expect(!server_.started, "a refusing server has a connection");
    const bool in_vain = excuses_.syns_in_vain && client_.reason == tcp::CloseReason::kTimeout;
    expect(client_.was_reset() || client_.aborted || in_vain || excuses_.client_may_miss_reset,
           "refusal did not reach the client as a reset");
    expect(client_.received == 0 && !client_.saw_end, "a refused client received something");
  }
  void reset_reaches(const Outcome& who, const Outcome& peer, const std::string& name,
                     const std::string& peer_name) {
    if (!who.closed) {
      expect(!peer.saw_end,
             "the reset of the " + name + " looked like a clean end to the " + peer_name);
    }
    if (!peer.started || peer.aborted) return;
    const bool was_over = peer.saw_end && peer.sent_all && who.closed;
    expect(peer.was_reset() || was_over || may_miss_reset(peer),
           "the reset of the " + name + " did not reach the " + peer_name);
  }
  void one_side_vanished() {
    const Outcome& gone = client_.vanished ? client_ : server_;
    const Outcome& left = client_.vanished ? server_ : client_;
    if (left.vanished || !left.started) return;
    if (!gone.closed) expect(!left.saw_end, "a vanished host seemed to close in order");
    expect(!left.gave_up || may_miss_reset(left),
           "the other host did not learn that this host had vanished");
  }

  Network& network_;
  std::size_t index_;
  const FlowSpec& spec_;
  const Outcome& client_;
  const Outcome& server_;
  Excuses excuses_;
  bool refused_for_want_of_room_ = false;
  bool ended_for_room_ = false;
  std::vector<std::string>& broken_;
};

bool forges(const Scenario& scenario, LanTrick trick) {
  return std::ranges::any_of(scenario.forgings, [trick](const Forging& forging) {
    return (forging.tricks & bit(trick)) != 0;
  });
}

void check_sessions(Network& network, std::vector<std::string>& broken) {
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network.is_running(side)) continue;
    for (const auto& peer : network.gateway(side).peers()) {
      if (peer.name == kHostileName) continue;  // the hostile peer may send anything
      const stp::Counters& c = peer.counters;
      const std::string who = network.gateway(side).name() + ": ";
      // A flipped bit may make a packet malformed before its checksum is checked.
      const bool flips = network.scenario().a_to_b.corrupt + network.scenario().b_to_a.corrupt > 0;
      if (c.malformed != 0 && !flips && !forges(network.scenario(), LanTrick::kStp)) {
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

std::vector<std::string> check_flow(Network& network, std::size_t index) {
  std::vector<std::string> broken;
  FlowCheck(network, index, broken).check();
  return broken;
}

std::vector<std::string> check_flows(Network& network) {
  std::vector<std::string> broken;
  std::uint64_t without_room = 0;
  std::uint64_t ended_for_room = 0;
  bool handshakes_outlasted = false;
  for (std::size_t i = 0; i < network.flow_count(); ++i) {
    FlowCheck flow(network, i, broken);
    flow.check();
    if (flow.refused_for_want_of_room()) ++without_room;
    if (flow.ended_for_room()) ++ended_for_room;
    handshakes_outlasted |= excuses_of(network, i).handshake_outlasted;
  }
  // A gateway that answers a SYN with a cookie may have no room for the flow when the host's ACK
  // arrives. It then resets the host.
  if (without_room > network.counted(Counter::kFlowsResetNoResources) +
                         network.counted(Counter::kResetAfterCookie)) {
    broken.emplace_back("more flows were refused for lack of room than the gateways count");
  }
  if (ended_for_room > network.counted(Counter::kFlowsResetForRoom)) {
    broken.emplace_back("more flows were ended to make room than the gateways count");
  }
  if (network.impostors() > 0 && network.scenario().hostile_peer) {
    broken.emplace_back("a gateway sent in the name of a host behind another gateway");
  }
  // With a hostile peer, these counters prove nothing: the peer may send unreadable bytes in its
  // own flows, and the gateway may declare the peer lost.
  const bool hostile = network.scenario().hostile_peer.has_value();
  if (!hostile && network.counted(Counter::kFlowsResetProtocol) != 0) {
    broken.emplace_back("a gateway could not parse messages of the other gateway");
  }
  if (!hostile && network.counted(Counter::kFlowsResetPeerLost) != 0 && !handshakes_outlasted &&
      peers_are_never_given_up(network.scenario())) {
    broken.emplace_back("flows of a peer that was not silent for long enough were given up");
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
      if (node.flow_count() != 0) {
        broken.push_back(node.name() + " still has " + std::to_string(node.flow_count()) +
                         " flows");
      }
      if (node.held_frames() != 0) broken.push_back(node.name() + " holds bridged frames");
      if (node.half_open(now) != 0) broken.push_back(node.name() + " counts half-open flows");
      if (const auto wrong = node.audit()) broken.push_back(node.name() + ": " + *wrong);
      if (const std::uint64_t used = node.arena_used(now); used != 0) {
        broken.push_back(node.name() + " still holds " + std::to_string(used) + " bytes");
      }
      for (const auto& peer : node.peers()) {
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

std::vector<std::string> check_links(Network& network) {
  std::vector<std::string> broken;
  for (const Side side : {Side::kA, Side::kB}) {
    if (!network.scenario().gateways_present) break;
    const std::string worst = network.gateway(side).meter().worst();
    if (worst.empty()) continue;
    broken.push_back(network.gateway(side).name() + " exceeded its link\n      " + worst);
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

std::vector<std::string> run_and_check(Network& network, std::vector<Inspection> inspections) {
  const auto watch = std::make_shared<Watch>(network, std::move(inspections));
  watch->start();
  try {
    // This is longer than any connection can hang. A host resets a hung connection after at most
    // 3,000 s (twice Plan::patience), and a gateway after its idle timeout.
    network.run_until_flows_over(Instant() + Duration::seconds(4'000));
    // When a client gives up, its frames may still be in flight, and may still start a server.
    network.run_for(Duration::seconds(10));
    network.run_until_drained(network.loop().now() + Duration::seconds(4'000));
    watch->stop();
  } catch (const std::exception& error) {
    watch->stop();
    return {error.what()};
  }
  std::vector<std::string> broken = check_flows(network);
  for (const auto& check : {check_memory, check_links}) {
    const std::vector<std::string> found = check(network);
    broken.insert(broken.end(), found.begin(), found.end());
  }
  return broken;
}

}  // namespace satrelay::sim
