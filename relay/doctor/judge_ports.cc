// The two ports: their interfaces, and the counters of the gateway about them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "relay/doctor/judgements.h"
#include "relay/machine/interface_faults.h"

namespace satrelay::ctl::doctor {
namespace {

using machine::Finding;
using machine::Findings;
using ops::Severity;

bool has_living_peer(const Json& peers) {
  for (const Json& peer : peers) {
    if (has_word(peer, "state", "alive")) return true;
  }
  return false;
}

// Frames on the LAN port of gateways, and of hosts behind peers.
std::uint64_t frames_of_wrong_side(const GatewayFacts& gateway) {
  const auto growth = [&](const char* key) {
    return growth_of(gateway.counters, gateway.earlier_counters, key);
  };
  return growth("dropped_forged_gateway") + growth("bridged_foreign_source");
}

// A gateway that runs may be in another network namespace than this program.
bool is_elsewhere(const machine::InterfaceFacts& interface, const Json& port) {
  return !interface.exists && port.is_object() && !has_word(port, "link", "gone");
}

// How long port lan stays switched off after port wan has a link again, and more
// (relay/satrelayd/startup/lan_follower.h).
constexpr std::uint64_t kFollowsWithinMs = 10'000;

// True if the gateway has port lan switched off, since port wan has or had no link.
bool is_switched_off(const char* name, const Facts& facts) {
  if (!facts.gateway || !facts.file.config->lan_follows_wan || name != std::string_view("lan")) {
    return false;
  }
  if (!has_word(port_of(facts, "wan"), "link", "up")) return true;
  return std::ranges::any_of(facts.gateway->events, [&](const Json& event) {
    return has_word(event, "subject", "port wan") &&
           (has_word(event, "name", "port_up") || has_word(event, "name", "port_returned")) &&
           count_of(event, "time_ms") + kFollowsWithinMs > facts.now_ms;
  });
}

Finding switched_off(const std::string& interface) {
  return {.check = "lan_follows_wan",
          .severity = Severity::kInfo,
          .subject = "port lan",
          .seen = interface + " is switched off, and lan_follows_wan is on",
          .cause = "port wan has no link, or has it for a few seconds only",
          .cure = "bring the link of port wan back; port lan follows within seconds",
          .page = machine::kPageOfPassing};
}

void judge_kernel_port(const Facts& facts, const char* name, const config::Port& port,
                       const machine::InterfaceFacts& interface, Findings& findings) {
  if (is_elsewhere(interface, port_of(facts, name))) {
    findings.push_back({.check = "port_not_visible",
                        .severity = Severity::kInfo,
                        .subject = std::string("port ") + name,
                        .seen = port.interface + " is not in this network namespace, and the "
                                                 "gateway has it",
                        .cause = "the gateway runs in another network namespace or container",
                        .cure = "start satrelayctl doctor there: ip netns exec NAME ...",
                        .page = machine::kPageOfPassing});
    return;
  }
  const auto use = facts.gateway ? machine::Use::kRunning : machine::Use::kBeforeStart;
  const bool is_off = !interface.is_enabled && is_switched_off(name, facts);
  if (is_off) findings.push_back(switched_off(port.interface));
  for (Finding& each : machine::judge_interface(name, port, interface, use)) {
    if (is_off && each.check == "port_down") continue;
    findings.push_back(std::move(each));
  }
}

// A port of which only the gateway knows the state: one of a card, or without a file.
void judge_reported_link(const char* name, const Json& port, Findings& findings) {
  const std::string link = text(port, "link");
  if (link != "down" && link != "gone") return;
  findings.push_back({.check = link == "gone" ? "port_missing" : "port_no_carrier",
                      .severity = Severity::kError,
                      .subject = std::string("port ") + name,
                      .seen = "the gateway reports that the link is " + link,
                      .cause = link == "gone" ? "the device does not exist any more"
                                              : "the cable is out, or the device at its other end "
                                                "is off",
                      .cure = "check cable, device and switch; satrelayctl ports shows the link",
                      .page = machine::kPageOfPassing,
                      .told_by = {.begin = "port_down", .end = {}, .subject = {}}});
}

// Each count is that of the span that the judgements count in.
void judge_port_counters(const char* name, const Facts& facts, Findings& findings) {
  if (!facts.gateway) return;
  const Json& port = port_of(facts, name);
  const Json& base = member(facts.gateway->base_ports, name);
  const std::string subject = std::string("port ") + name;
  const auto count = [&](const char* key) { return growth_of(port, base, key); };
  const std::uint64_t missed = count("rx_missed") + count("rx_no_buffer");
  if (missed > 0 && missed >= count("rx_frames") / 1000) {
    findings.push_back({.check = "frames_missed",
                        .severity = Severity::kWarning,
                        .subject = subject,
                        .seen = std::to_string(missed) + " frames were lost " +
                                facts.gateway->span + " before the worker took them",
                        .cause = "the worker is too slow, or others take its core",
                        .cure = "worker.cpu, and worker.polling: busy",
                        .page = machine::kPageOfMachine,
                        .told_by = {.begin = "frames_missed", .end = {}, .subject = {}}});
  }
  const std::uint64_t merged = count("rx_merged");
  if (merged > 0) {
    findings.push_back({.check = "frames_merged",
                        .severity = Severity::kWarning,
                        .subject = subject,
                        .seen = std::to_string(merged) +
                                " frames longer than the MTU were dropped " + facts.gateway->span,
                        .cause = "a host has a larger MTU, or the interface merges frames",
                        .cure = "give the hosts the MTU of the port; ethtool -K INTERFACE gro off "
                                "lro off",
                        .page = machine::kPageOfSpeed,
                        .told_by = {.begin = "frames_merged", .end = {}, .subject = {}}});
  }
  const std::uint64_t errors = count("rx_errors");
  if (errors > 0 && errors >= count("rx_frames") / 1000) {
    findings.push_back({.check = "port_errors",
                        .severity = Severity::kWarning,
                        .subject = subject,
                        .seen = std::to_string(errors) + " receive errors " + facts.gateway->span,
                        .cause = "the cable, the optics or the duplex of the two ends",
                        .cure = "replace the cable; ethtool -S INTERFACE shows the kind of error",
                        .page = machine::kPageOfSpeed});
  }
}

void judge_gateway_counters(const Facts& facts, Findings& findings) {
  const auto count = [&](const char* key) { return counted(*facts.gateway, key); };
  const std::string& span = facts.gateway->span;
  if (looks_exchanged(facts)) {
    findings.push_back(
        {.check = "ports_exchanged",
         .severity = Severity::kError,
         .subject = "ports",
         .seen = "no peer is alive, and frames of the far side come to the LAN port (" +
                 std::to_string(count("dropped_forged_gateway")) + " dropped_forged_gateway, " +
                 std::to_string(count("bridged_foreign_source")) + " bridged_foreign_source)",
         .cause = "LAN and WAN are the wrong way round: the cable to the modem is in the LAN port",
         .cure = "exchange ports.lan and ports.wan in the file, or the cables, and restart",
         .page = "troubleshooting.md#forgeries"});
  } else if (count("dropped_forged_gateway") > 0) {
    findings.push_back(
        {.check = "gateway_forged",
         .severity = Severity::kWarning,
         .subject = "port lan",
         .seen = std::to_string(count("dropped_forged_gateway")) +
                 " frames of the LAN in the name of a gateway were dropped " + span,
         .cause = "a host has the address of a gateway, or a second way joins LAN and WAN",
         .cure = "find the host, or the second cable: satrelayctl capture --port lan --filter arp",
         .page = "troubleshooting.md#forgeries",
         .told_by = {.begin = "gateway_forged", .end = {}, .subject = {}}});
  }
  const std::uint64_t both = count("stations_on_both_sides");
  if (both > 1) {
    findings.push_back(
        {.check = "station_on_both_sides",
         .severity = Severity::kWarning,
         .subject = "ports",
         .seen = "hosts were heard on the LAN and on the WAN, " + std::to_string(both) + " times " +
                 span,
         .cause = "a second way joins LAN and WAN, or two machines have one MAC",
         .cure = "look for a loop between the two sides; satrelayctl events names the time",
         .page = "troubleshooting.md#forgeries",
         .told_by = {.begin = "station_on_both_sides", .end = {}, .subject = {}}});
  }
  const std::uint64_t conflicts = count("address_conflicts");
  if (conflicts > 0) {
    findings.push_back({.check = "address_conflict",
                        .severity = Severity::kError,
                        .subject = "gateway.address",
                        .seen = "another machine on the WAN uses the address of this gateway (" +
                                std::to_string(conflicts) + " address_conflicts)",
                        .cause = "two machines have one address, so packets go to either",
                        .cure = "write another gateway.address, and restart",
                        .page = "troubleshooting.md#the-peer-is-not-alive",
                        .told_by = {.begin = "address_conflict", .end = {}, .subject = {}}});
  }
  const std::uint64_t too_long = count("dropped_too_long");
  const auto lan = number(port_of(facts, "lan"), "mtu_bytes");
  const auto wan = number(port_of(facts, "wan"), "mtu_bytes");
  if (too_long > 0 && lan != wan) {
    findings.push_back({.check = "mtus_differ",
                        .severity = Severity::kWarning,
                        .subject = "ports",
                        .seen = std::to_string(too_long) + " bridged frames were dropped " + span +
                                ": ports.lan "
                                "has an MTU of " +
                                std::to_string(lan.value_or(0)) + ", ports.wan of " +
                                std::to_string(wan.value_or(0)),
                        .cause = "a frame of the port with the larger MTU does not fit the other",
                        .cure = "write the same mtu for both ports, or lower the MTU of the hosts",
                        .page = machine::kPageOfPassing});
  }
  const std::uint64_t unfinished = count("dropped_unfinished_checksum");
  if (unfinished > 0) {
    findings.push_back(
        {.check = "checksums_unfinished",
         .severity = Severity::kWarning,
         .subject = "port lan",
         .seen = std::to_string(unfinished) + " frames without a checksum were dropped " + span,
         .cause = "their sender leaves the checksum to a card that they never cross",
         .cure = "on the sending machine: ethtool -K INTERFACE tx off",
         .page = machine::kPageOfSpeed});
  }
}

}  // namespace

bool looks_exchanged(const Facts& facts) {
  if (!facts.gateway || facts.gateway->peers.empty()) return false;
  return !has_living_peer(facts.gateway->peers) && frames_of_wrong_side(*facts.gateway) > 0;
}

Findings judge_ports(const Facts& facts) {
  Findings findings;
  const auto judge_one = [&](const char* name, const config::Port* port,
                             const std::optional<machine::InterfaceFacts>& interface) {
    const bool is_seen_here =
        interface && port != nullptr && !is_elsewhere(*interface, port_of(facts, name));
    if (interface && port != nullptr) judge_kernel_port(facts, name, *port, *interface, findings);
    if (!is_seen_here) judge_reported_link(name, port_of(facts, name), findings);
    judge_port_counters(name, facts, findings);
  };
  const auto& config = facts.file.config;
  judge_one("lan", config ? &config->lan : nullptr, facts.machine.lan);
  judge_one("wan", config ? &config->wan : nullptr, facts.machine.wan);
  if (facts.gateway) judge_gateway_counters(facts, findings);
  return findings;
}

}  // namespace satrelay::ctl::doctor
