#include "config/checks/validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "config/checks/file_doubt.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

using Result = std::optional<Contradiction>;

Result refuse(std::string path, std::string message) {
  return Contradiction{std::move(path), std::move(message)};
}

std::string item(const char* list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

std::string item(const char* list, std::size_t i, const char* field) {
  return item(list, i) + "." + field;
}

bool is_unspecified(const IpAddress& address) {
  const auto& octets = address.octets();
  return std::all_of(octets.begin(), octets.end(), [](std::uint8_t octet) { return octet == 0; });
}

bool is_loopback(const IpAddress& address) {
  return address.is_v4()
             ? address.octets()[0] == 127
             : address == IpAddress::v6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

// Whether every bit of `address` beyond the subnet's length is one: a broadcast address (IPv4).
bool is_last_of(const IpPrefix& subnet, const IpAddress& address) {
  for (std::size_t bit = subnet.length; bit < address.size() * 8; ++bit) {
    if ((address.octets()[bit / 8] & (0x80U >> (bit % 8))) == 0) return false;
  }
  return true;
}

// Returns why no host can have this address; empty if a host can.
std::string not_a_host(const IpAddress& address) {
  if (is_unspecified(address)) return "is the unspecified address";
  if (address.is_multicast()) return "is a multicast address";
  if (is_loopback(address)) return "is a loopback address";
  if (address.is_v4() && address.octets()[0] == 255) return "is a broadcast address";
  return "";
}

// Returns why no host of `subnet` can have this address; empty if a host can.
std::string not_a_host_of(const IpPrefix& subnet, const IpAddress& address) {
  if (std::string why = not_a_host(address); !why.empty()) return why;
  const std::size_t host_bits = address.size() * 8 - subnet.length;
  if (host_bits < 2) return "";  // RFC 3021, RFC 6164: both addresses of a pair are hosts
  if (address == subnet.address) return "is the address of the subnet itself";
  if (address.is_v4() && is_last_of(subnet, address))
    return "is the broadcast address of its subnet";
  return "";
}

bool overlap(const IpPrefix& a, const IpPrefix& b) {
  return a.contains(b.address) || b.contains(a.address);
}

// --- ports ------------------------------------------------------------------------------------

Result check_ports(const Port& first, const Port& second, const char* first_path,
                   const char* second_path) {
  const auto same = [&](const char* field, const std::string& a, const std::string& b) -> Result {
    if (a.empty() || a != b) return std::nullopt;
    return refuse(std::string(second_path) + "." + field,
                  in_quotes(b) + " is the device of " + first_path + " already; write another");
  };
  if (auto r = same("interface", first.interface, second.interface)) return r;
  if (auto r = same("pci", first.pci, second.pci)) return r;
  return same("socket", first.socket, second.socket);
}

// --- gateway ----------------------------------------------------------------------------------

Result check_address(const GatewayAddress& gateway) {
  const IpPrefix& subnet = gateway.address;
  if (subnet.length == 0) {
    return refuse("gateway.address",
                  "is a subnet of every address; write the length of the WAN "
                  "subnet, like 192.0.2.1/30");
  }
  if (const std::string why = not_a_host_of(subnet, gateway.own); !why.empty()) {
    return refuse("gateway.address", gateway.own.to_string() + " " + why +
                                         "; write the gateway's own address in its subnet");
  }
  if (!gateway.next_hop) return std::nullopt;
  const IpAddress& hop = *gateway.next_hop;
  if (hop.version() != gateway.own.version()) {
    return refuse("gateway.next_hop", hop.to_string() + " is not of the same family as " +
                                          gateway.own.to_string() + "; write one family");
  }
  if (hop == gateway.own) {
    return refuse("gateway.next_hop",
                  hop.to_string() + " is the gateway's own address; write the router's");
  }
  if (!subnet.contains(hop)) {
    return refuse("gateway.next_hop", hop.to_string() + " is not in the gateway's subnet " +
                                          subnet.to_string() + "; write a router that is");
  }
  if (const std::string why = not_a_host_of(subnet, hop); !why.empty()) {
    return refuse("gateway.next_hop", hop.to_string() + " " + why + "; write the router's address");
  }
  return std::nullopt;
}

Result check_peer_address(const GatewayAddress& gateway, const Peer& peer,
                          const std::string& path) {
  const std::string text = peer.address.to_string();
  if (peer.address.version() != gateway.own.version()) {
    return refuse(path, text + " is not of the same family as the gateway's address " +
                            gateway.own.to_string() + "; write one family");
  }
  if (peer.address == gateway.own) {
    return refuse(path, text + " is this gateway's own address; write the far gateway's");
  }
  const bool near = gateway.address.contains(peer.address);
  const std::string why =
      near ? not_a_host_of(gateway.address, peer.address) : not_a_host(peer.address);
  if (!why.empty()) return refuse(path, text + " " + why + "; write the far gateway's address");
  if (!near && !gateway.next_hop) {
    return refuse(
        path,
        text + " is not in the gateway's subnet " + gateway.address.to_string() +
            " and gateway.next_hop is missing; write an address in that subnet, or the next hop");
  }
  return std::nullopt;
}

Result check_peers(const Gateway& config) {
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const Peer& peer = config.peers[i];
    if (auto r = check_peer_address(config.gateway, peer, item("peers", i, "address"))) return r;
    for (const std::string& link : peer.links) {
      if (std::ranges::find(config.links, link, &Link::name) != config.links.end()) continue;
      std::string links;
      for (const Link& each : config.links) links += (links.empty() ? "" : ", ") + each.name;
      return refuse(item("peers", i, "link"),
                    in_quotes(link) + " is not a link; there are: " + links);
    }
    for (std::size_t j = 0; j < i; ++j) {
      const Peer& other = config.peers[j];
      if (other.name == peer.name) {
        return refuse(item("peers", i, "name"), in_quotes(peer.name) + " is the name of " +
                                                    item("peers", j) + " already; write another");
      }
      if (other.address == peer.address) {
        return refuse(item("peers", i, "address"), peer.address.to_string() +
                                                       " is the address of " + item("peers", j) +
                                                       " already; a peer appears once");
      }
    }
  }
  return std::nullopt;
}

Result check_prefixes(const Gateway& config) {
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const std::vector<IpPrefix>& prefixes = config.peers[i].prefixes;
    for (std::size_t k = 0; k < prefixes.size(); ++k) {
      const std::string path = item("peers", i, "prefixes") + "[" + std::to_string(k) + "]";
      if (prefixes[k].address.is_multicast() && prefixes[k].length > 0) {
        return refuse(path, prefixes[k].to_string() + " is multicast; write prefixes of hosts");
      }
      for (std::size_t j = 0; j <= i; ++j) {
        const std::vector<IpPrefix>& others = config.peers[j].prefixes;
        const std::size_t end = j == i ? k : others.size();
        for (std::size_t m = 0; m < end; ++m) {
          if (!overlap(prefixes[k], others[m])) continue;
          return refuse(path, prefixes[k].to_string() + " overlaps " + others[m].to_string() +
                                  " of " + item("peers", j) +
                                  "; write prefixes that each belong to one peer");
        }
      }
    }
  }
  return std::nullopt;
}

bool share_a_family(const std::vector<IpPrefix>& a, const std::vector<IpPrefix>& b) {
  return std::any_of(a.begin(), a.end(), [&](const IpPrefix& x) {
    return std::any_of(b.begin(), b.end(), [&](const IpPrefix& y) {
      return x.address.version() == y.address.version();
    });
  });
}

Result check_rule_names(const std::vector<Rule>& rules) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name.empty()) continue;
    const auto [first, is_new] = places.emplace(rules[i].name, i);
    if (is_new) continue;
    return refuse(item("rules", i, "name"), in_quotes(rules[i].name) + " is the name of " +
                                                item("rules", first->second) +
                                                " already; write another");
  }
  return std::nullopt;
}

Result check_rules(const std::vector<Rule>& rules, const std::vector<Peer>& peers) {
  if (auto r = check_rule_names(rules)) return r;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Match& match = rules[i].match;
    if (!match.source.empty() && !match.destination.empty() &&
        !share_a_family(match.source, match.destination)) {
      return refuse(item("rules", i, "match"),
                    "source and destination are of different families, so nothing matches; write "
                    "one family");
    }
    for (const std::string& name : match.peer) {
      if (std::ranges::find(peers, name, &Peer::name) != peers.end()) continue;
      std::string known;
      for (const Peer& peer : peers) known += (known.empty() ? "" : ", ") + peer.name;
      return refuse(item("rules", i, "match") + ".peer",
                    in_quotes(name) + " is not a peer; there are" +
                        (known.empty() ? std::string(" none here") : ": " + known));
    }
    if (i + 1 < rules.size() && match == Match()) {
      return refuse(item("rules", i + 1), "is never reached, because " + item("rules", i) +
                                              " matches everything; move it up or remove it");
    }
  }
  return std::nullopt;
}

Result check_stp(const Gateway& config) {
  const Stp& stp = config.stp;
  if (stp.mtu > config.wan.mtu) {
    return refuse("stp.mtu", std::to_string(stp.mtu) + " exceeds ports.wan.mtu " +
                                 std::to_string(config.wan.mtu) + "; write at most that");
  }
  if (!config.gateway.own.is_v4() && stp.mtu < 1280) {
    return refuse(config.wan.mtu < 1280 ? "ports.wan.mtu" : "stp.mtu",
                  std::to_string(stp.mtu) + " is less than IPv6 needs; write at least 1280");
  }
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const Peer& peer = config.peers[i];
    const unsigned lanes = std::max(config.worker.count, peer.workers);
    if (stp.port > 65'536 - lanes) {
      return refuse("stp.port", std::to_string(stp.port) + " leaves no room for the " +
                                    std::to_string(lanes) + " lanes to peer " + peer.name +
                                    ", a port each; write at most " +
                                    std::to_string(65'536 - lanes));
    }
    for (const std::string& name : peer.links) {
      const auto link = std::ranges::find(config.links, name, &Link::name);
      if (lanes == 1 || link == config.links.end() || !link->finds_capacity()) continue;
      return refuse("links." + link->name + ".capacity",
                    "find needs one worker at both ends, and there are " + std::to_string(lanes) +
                        " lanes to peer " + peer.name +
                        ": each would find what the others leave; write the link's rates");
    }
  }
  if (stp.suspect_after <= stp.ping_after) {
    return refuse("stp.suspect_after",
                  to_text(stp.suspect_after) + " is not longer than ping_after " +
                      to_text(stp.ping_after) + "; an idle peer would always be suspect");
  }
  return std::nullopt;
}

Result check_limits(const Limits& limits) {
  if (limits.half_open > limits.flows) {
    return refuse("limits.half_open", std::to_string(limits.half_open) + " exceeds limits.flows " +
                                          std::to_string(limits.flows) + "; write at most that");
  }
  // A value of 0 needs no check: the gateway then chooses a value that never exceeds its memory.
  const bool memory_given = limits.memory != ByteCount(0);
  const bool flow_memory_given = limits.flow_memory != ByteCount(0);
  if (memory_given && limits.flow_memory > limits.memory) {
    return refuse("limits.flow_memory", to_text(limits.flow_memory) + " exceeds limits.memory " +
                                            to_text(limits.memory) + "; write at most that");
  }
  if (flow_memory_given && limits.host_window > limits.flow_memory) {
    return refuse("limits.host_window", to_text(limits.host_window) +
                                            " exceeds limits.flow_memory " +
                                            to_text(limits.flow_memory) + "; write at most that");
  }
  if (memory_given && limits.host_window > limits.memory) {
    return refuse("limits.host_window", to_text(limits.host_window) + " exceeds limits.memory " +
                                            to_text(limits.memory) + "; write at most that");
  }
  return std::nullopt;
}

Result check_records(const Records& records) {
  if (!records.ipfix) return std::nullopt;
  const IpAddress& collector = records.ipfix->address;
  const auto refused = [&](const char* what) {
    return refuse("records.ipfix.collector",
                  collector.to_string() + what + "; write the address of the collector");
  };
  if (is_unspecified(collector)) return refused(" is the unspecified address");
  if (collector.is_multicast() && records.ipfix->transport == IpfixTransport::kTcp) {
    return refused(" is a multicast address, to which TCP cannot connect");
  }
  return std::nullopt;
}

// --- satlink ----------------------------------------------------------------------------------

std::uint64_t bytes_in_flight(const LinkDirection& direction) {
  BitRate rate = direction.rate;
  for (const RateStep& step : direction.rate_steps) rate = std::max(rate, step.rate);
  Duration delay = direction.delay;
  for (const DelayStep& step : direction.delay_steps) delay = std::max(delay, step.delay);
  return (rate.bytes_in(delay + direction.jitter) + direction.queue).value();
}

}  // namespace

std::optional<Contradiction> check_following(const Gateway& config) {
  if (!config.lan_follows_wan || !config.lan.interface.empty()) return std::nullopt;
  return refuse("lan_follows_wan",
                "needs a kernel interface as port lan: no other one is switched off");
}

std::optional<Contradiction> find_contradiction(const Gateway& config) {
  if (auto r = check_ports(config.lan, config.wan, "ports.lan", "ports.wan")) return r;
  if (auto r = check_following(config)) return r;
  if (auto r = check_address(config.gateway)) return r;
  if (auto r = check_peers(config)) return r;
  if (auto r = check_prefixes(config)) return r;
  if (auto r = check_rules(config.rules, config.peers)) return r;
  if (auto r = check_stp(config)) return r;
  if (auto r = check_records(config.records)) return r;
  return check_limits(config.limits);
}

std::optional<Contradiction> find_contradiction(const SatLink& config) {
  if (auto r = check_ports(config.a, config.b, "ports.a", "ports.b")) return r;
  const ByteCount needed(bytes_in_flight(config.a_to_b) + bytes_in_flight(config.b_to_a));
  if (config.memory.value() != 0 && config.memory < needed) {
    return refuse("memory", to_text(config.memory) +
                                " does not hold what rates, delays and queues keep in flight; "
                                "write at least " +
                                to_text(needed) + ", or leave it out");
  }
  return std::nullopt;
}

std::vector<Contradiction> find_doubtful(const Gateway& config) {
  std::vector<Contradiction> found;
  if (config.limits.idle_timeout < kLeastIdle) {
    found.push_back({"limits.idle_timeout",
                     "is shorter than the two hours after which hosts ask for each other "
                     "(keep-alive): silent connections that they keep are reset; write 124min or "
                     "more unless that is wanted"});
  }
  const ByteCount memory = config.limits.memory;
  const std::uint64_t served = memory.value() / kMemoryOfAFlow.value();
  if (memory != ByteCount(0) && served < config.limits.flows) {
    found.push_back({"limits.flows", "is more than limits.memory serves: with " + to_text(memory) +
                                         " some " + std::to_string(served) + " flows, at " +
                                         to_text(kMemoryOfAFlow) + " each; the rest are bridged"});
  }
  for (const Link& link : config.links) {
    const BitRate most = link.send_rate.scaled(kReportPercent, 100);
    if (config.stp.feedback.budget <= most) continue;
    found.push_back(
        {"stp.feedback.budget",
         "is more than " + std::to_string(kReportPercent) + "% of what links." + link.name +
             " sends: reports may take what its hosts need; " +
             (most < kLeastReportBudget ? "" : "write " + to_text(most) + " or less, or ") +
             "leave it out"});
  }
  if (!config.records.file.empty()) {
    std::string doubt = doubt_about_file(config.records.file);
    if (!doubt.empty()) found.push_back({"records.file", std::move(doubt)});
  }
  return found;
}

std::vector<Contradiction> find_consequences(const Gateway& config) {
  std::vector<Contradiction> found;
  for (const Link& link : config.links) {
    if (!link.finds_capacity()) continue;
    const bool has_ceiling = link.send_rate != kMostLinkRate;
    std::string text = "the gateway finds what it can send here, ";
    text += has_ceiling ? "up to " + to_text(link.send_rate) : "without a ceiling (send_rate)";
    if (config.limits.memory == ByteCount(0)) {
      text += "; memory is planned for " + to_text(link.planned_rate()) + " out and " +
              to_text(link.receive_rate) +
              " in: send_rate, receive_rate or limits.memory change that";
    }
    found.push_back({"links." + link.name + ".capacity", text});
  }
  return found;
}

}  // namespace satrelay::config
