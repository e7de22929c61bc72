// Rules, prefixes and commands: whether any connection can be relayed, and why others are not.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "pep/base/address.h"
#include "relay/doctor/judgements.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Findings;
using ops::Severity;

constexpr std::string_view kPageOfBridged = "troubleshooting.md#why-is-this-flow-not-accelerated";
// A SYN or two without a flow are normal.
constexpr std::size_t kConnectionsThatTell = 3;

void judge_actions(const Facts& facts, Findings& findings) {
  bool accelerates = false;
  std::size_t rules = 0;
  if (facts.file.config) {
    rules = facts.file.config->rules.size();
    accelerates = rules == 0 || std::ranges::any_of(facts.file.config->rules, [](const auto& rule) {
                    return rule.action == config::Action::kAccelerate;
                  });
  } else if (facts.gateway) {
    rules = facts.gateway->rules.size();
    accelerates = rules == 0 || std::ranges::any_of(facts.gateway->rules, [](const Json& rule) {
                    return has_word(rule, "action", "accelerate");
                  });
  } else {
    return;
  }
  if (accelerates) return;
  findings.push_back({.check = "nothing_accelerated",
                      .severity = Severity::kError,
                      .subject = "rules",
                      .seen = "none of the rules has the action accelerate",
                      .cause = "if there are rules, a connection that matches none is bridged",
                      .cure = "add a last rule {action: accelerate}, and satrelayctl reload",
                      .page = kPageOfBridged});
}

void judge_command_of_operator(const Json& status, Findings& findings) {
  const std::string flows = text(status, "new_flows");
  if (flows != "bypass" && flows != "draining") return;
  findings.push_back({.check = flows == "bypass" ? "bypass_on" : "draining",
                      .severity = Severity::kWarning,
                      .subject = "gateway",
                      .seen = "new connections are bridged: new_flows is " + flows,
                      .cause = "an operator has given the command; satrelayctl events names the "
                               "user",
                      .cure = flows == "bypass" ? "satrelayctl bypass off"
                                                : "start the gateway again when it has stopped",
                      .page = "guide.md#bypass-and-drain",
                      .told_by = {.begin = "bypass_set", .end = {}, .subject = {}}});
}

// A peer without prefixes has all addresses, and so those of this LAN as well: that is no mistake.
void judge_prefixes(const Facts& facts, Findings& findings) {
  const config::Gateway& config = *facts.file.config;
  const auto judge_one = [&](const config::Peer& peer, const IpAddress& address,
                             const std::string& owner) {
    for (const IpPrefix& prefix : peer.prefixes) {
      if (prefix.length == 0 || !prefix.contains(address)) continue;
      findings.push_back({.check = "own_address_at_peer",
                          .severity = Severity::kWarning,
                          .subject = "peer " + peer.name,
                          .seen = "its prefix " + prefix.to_string() + " holds " +
                                  address.to_string() + ", " + owner,
                          .cause = "hosts of this LAN would count as hosts behind the peer, and "
                                   "their connections would be bridged (bridged_foreign_source)",
                          .cure = "narrow peers[].prefixes to the hosts behind the far gateway",
                          .page = "configuration.md#hosts-that-a-peer-may-represent"});
    }
  };
  for (const config::Peer& peer : config.peers) {
    judge_one(peer, config.gateway.own, "the address of this gateway");
    for (const std::string& written : facts.lan_addresses) {
      if (const auto address = IpAddress::parse(written)) {
        judge_one(peer, *address, "an address of this machine on the LAN");
      }
    }
  }
}

struct Advice {
  std::string_view counter;
  const char* cause;
  const char* cure;
  std::string_view event = {};  // of the gateway, that reports this reason
};
constexpr std::array<Advice, 12> kAdvice{{
    {"bridged_by_rule", "a rule says bridge, or no rule matches",
     "satrelayctl explain CLIENT SERVER:PORT names the rule; add one with action: accelerate"},
    {"bridged_no_peer_prefix", "the servers are in no peer's prefixes",
     "add the prefix of the servers to peers[].prefixes"},
    {"bridged_peer_down", "the peer was not alive when the connections began",
     "satrelayctl peers: state and next_hop", "peer_unheard"},
    {"bridged_bypass", "bypass is on here", "satrelayctl bypass off", "bypass_set"},
    {"bridged_peer_bypass", "the operator of the far gateway bypasses or drains it",
     "there: satrelayctl bypass off"},
    {"bridged_asymmetric", "only one direction of the connections crosses this gateway",
     "check the routes of both LANs: both directions must cross both gateways"},
    {"bridged_unaccepted_source", "the far gateway does not accept the clients",
     "add their subnet to the prefixes that the far gateway has for this one"},
    {"bridged_foreign_source", "the clients are in the prefixes of a peer",
     "narrow peers[].prefixes, or exchange the ports if LAN and WAN are the wrong way round"},
    {"bridged_own_segment", "the servers are in the subnet of gateway.address",
     "write their part of that subnet into peers[].prefixes"},
    {"bridged_table_full", "limits.flows is reached", "raise limits.flows and limits.memory",
     "table_full"},
    {"bridged_memory_low", "there is no memory for more flows", "raise limits.memory",
     "memory_low"},
    {"bridged_other_vlan", "the servers answer in another VLAN",
     "check the switch; a private VLAN is not relayed"},
}};

const Advice* advice_about(const std::string& counter) {
  const auto found = std::ranges::find(kAdvice, counter, &Advice::counter);
  return found == kAdvice.end() ? nullptr : &*found;
}

// Connections go, and none of them is relayed: names the most frequent reason of the latest ones.
void judge_flows(const GatewayFacts& gateway, Findings& findings) {
  const std::uint64_t relayed = count_of(gateway.counters, "flows_established") +
                                count_of(gateway.counters, "flows_from_peer");
  if (relayed > 0 || gateway.bridged.size() < kConnectionsThatTell) return;
  std::map<std::string, std::size_t> reasons;
  for (const Json& connection : gateway.bridged) ++reasons[text(connection, "reason")];
  const auto most =
      std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.second; });
  const Advice* const advice = advice_about(most->first);
  findings.push_back(
      {.check = "no_flow",
       .severity = Severity::kWarning,
       .subject = "gateway",
       .seen = "no connection was relayed since the start, and of the latest " +
               std::to_string(gateway.bridged.size()) + " bridged ones " +
               std::to_string(most->second) + " have the reason " + most->first,
       .cause = advice != nullptr ? advice->cause : "the counter has the reason",
       .cure = advice != nullptr ? advice->cure : "see its row in statistics.md",
       .page = kPageOfBridged,
       .told_by = {.begin = advice != nullptr ? advice->event : "", .end = {}, .subject = {}}});
}

// A counter that grows only if something is wrong with the division of hosts.
struct CounterFault {
  const char* counter;
  std::uint64_t from;  // the smallest value that says something
  const char* what;
  const char* cause;
  const char* cure;
  const char* page;
  std::string_view event = {};  // of the gateway, that reports the growth of this counter
};
constexpr std::array<CounterFault, 7> kCounterFaults{{
    {"bridged_asymmetric", 1, "frames of connections of which only one direction comes by",
     "the routes of a LAN lead the other direction past a gateway",
     "check the routes of both LANs: both directions must cross both gateways",
     "troubleshooting.md#why-is-this-flow-not-accelerated"},
    {"bridged_unaccepted_source", 1, "frames of hosts that the far gateway does not accept",
     "the prefixes of the far gateway lack a subnet of this LAN, or its IPv6",
     "add the subnet to the prefixes that the far gateway has for this one",
     "troubleshooting.md#forgeries", "source_unaccepted"},
    {"bridged_foreign_source", 1, "frames of this LAN with an address behind a peer",
     "peers[].prefixes hold hosts of this LAN, or a host here borrows an address",
     "narrow peers[].prefixes, or find the host", "troubleshooting.md#forgeries", "source_forged"},
    {"syns_of_no_peer", 1, "connections from the WAN of hosts in no peer's prefixes",
     "peers[].prefixes lack hosts behind the peer", "add the hosts to peers[].prefixes",
     "troubleshooting.md#forgeries", "client_of_no_peer"},
    {"flows_refused_foreign", 1, "flows of a peer for clients that are not behind it",
     "peers[].prefixes lack hosts behind the peer, or a host there borrows an address",
     "correct peers[].prefixes, or find the host",
     "troubleshooting.md#connections-are-refused-or-reset", "peer_overreaches"},
    {"dropped_relayed_from_wan", 100, "raw segments of flows from the WAN",
     "only one of the two gateways relays these connections",
     "satrelayctl peers and rules at the far gateway: alive, and not in bypass",
     "troubleshooting.md#something-does-not-pass"},
    {"flows_other_vlan", 1, "servers that answered in another VLAN than they were asked in",
     "a private VLAN, or an error of a switch", "check the VLANs of the switch",
     "statistics.md#flows-by-what-became-of-them", "answers_in_other_vlan"},
}};

// Exchanged ports make these counters grow, and have a finding of their own.
void judge_counters(const Facts& facts, Findings& findings) {
  if (looks_exchanged(facts)) return;
  for (const CounterFault& fault : kCounterFaults) {
    const std::uint64_t value = counted(*facts.gateway, fault.counter);
    if (value < fault.from) continue;
    findings.push_back({.check = fault.counter,
                        .severity = Severity::kWarning,
                        .subject = "gateway",
                        .seen = std::to_string(value) + ' ' + fault.what + ' ' +
                                facts.gateway->span + " (" + fault.counter + ")",
                        .cause = fault.cause,
                        .cure = fault.cure,
                        .page = fault.page,
                        .told_by = {.begin = fault.event, .end = {}, .subject = {}}});
  }
}

}  // namespace

Findings judge_rules(const Facts& facts) {
  Findings findings;
  judge_actions(facts, findings);
  if (facts.file.config) judge_prefixes(facts, findings);
  if (!facts.gateway) return findings;
  judge_command_of_operator(facts.gateway->status, findings);
  judge_flows(*facts.gateway, findings);
  judge_counters(facts, findings);
  return findings;
}

}  // namespace satrelay::ctl::doctor
