#include "config/checks/validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/checks/file_doubt.h"
#include "config/checks/idle_rules.h"
#include "config/model/traffic_class.h"
#include "config/text/error.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

// The contradictions that are found. It keeps the first one about each path, because one value has
// one mistake, and others about it mostly follow from the first.
class Found {
 public:
  void add(const std::string& path, std::string message) {
    // Further ones would not be told (error.h).
    if (list_.size() == kMostMistakes) return;
    if (paths_.insert(path).second) list_.push_back({path, std::move(message)});
  }
  bool has(const std::string& path) const { return paths_.contains(path); }
  std::vector<Contradiction> list() && { return std::move(list_); }

 private:
  std::vector<Contradiction> list_;
  std::set<std::string> paths_;
};

// The names of links or of peers.
class Names {
 public:
  template <typename T>
  explicit Names(const std::vector<T>& named) {
    for (const T& each : named) {
      names_.insert(each.name);
      if (names_.size() > kMostShown) continue;
      text_ += (text_.empty() ? "" : ", ") + each.name;
    }
    if (named.size() > kMostShown) {
      text_ += " and " + std::to_string(named.size() - kMostShown) + " more";
    }
  }
  bool contains(std::string_view name) const { return names_.contains(name); }
  // The list for a message, which must not grow with the file.
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kMostShown = 20;
  std::set<std::string_view> names_;
  std::string text_;
};

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

// --- ports ------------------------------------------------------------------------------------

void check_ports(const Port& first, const Port& second, const char* first_path,
                 const char* second_path, Found& found) {
  const auto same = [&](const char* field, const std::string& a, const std::string& b) {
    if (a.empty() || a != b) return;
    found.add(std::string(second_path) + "." + field,
              in_quotes(b) + " is the device of " + first_path + " already; write another");
  };
  same("interface", first.interface, second.interface);
  same("pci", first.pci, second.pci);
  same("socket", first.socket, second.socket);
}

void check_following(const Gateway& config, Found& found) {
  if (!config.lan_follows_wan || !config.lan.interface.empty()) return;
  found.add("lan_follows_wan",
            "needs a kernel interface as port lan: no other one is switched off; write no");
}

// --- gateway ----------------------------------------------------------------------------------

// Returns why this is no next hop of the gateway; empty if it is one.
std::string not_a_hop(const GatewayAddress& gateway, const IpAddress& hop) {
  const IpPrefix& subnet = gateway.address;
  if (hop.version() != gateway.own.version()) {
    return "is not of the same family as " + gateway.own.to_string() + "; write one family";
  }
  if (hop == gateway.own) return "is the gateway's own address; write the router's";
  if (!subnet.contains(hop)) {
    return "is not in the gateway's subnet " + subnet.to_string() + "; write a router that is";
  }
  const std::string why = not_a_host_of(subnet, hop);
  return why.empty() ? "" : why + "; write the router's address";
}

void check_address(const GatewayAddress& gateway, Found& found) {
  const IpPrefix& subnet = gateway.address;
  if (subnet.length == 0) {
    found.add("gateway.address",
              "is a subnet of every address; write the length of the WAN "
              "subnet, like 192.0.2.1/30");
    return;
  }
  if (const std::string why = not_a_host_of(subnet, gateway.own); !why.empty()) {
    found.add("gateway.address", gateway.own.to_string() + " " + why +
                                     "; write the gateway's own address in its subnet");
    return;
  }
  if (!gateway.next_hop) return;
  const std::string why = not_a_hop(gateway, *gateway.next_hop);
  if (!why.empty()) found.add("gateway.next_hop", gateway.next_hop->to_string() + " " + why);
}

// Returns why no peer of the gateway can have this address; empty if one can.
std::string not_a_peer(const GatewayAddress& gateway, const IpAddress& address) {
  if (address.version() != gateway.own.version()) {
    return "is not of the same family as the gateway's address " + gateway.own.to_string() +
           "; write one family";
  }
  if (address == gateway.own) return "is this gateway's own address; write the far gateway's";
  const bool near = gateway.address.contains(address);
  const std::string why = near ? not_a_host_of(gateway.address, address) : not_a_host(address);
  if (!why.empty()) return why + "; write the far gateway's address";
  if (!near && !gateway.next_hop) {
    return "is not in the gateway's subnet " + gateway.address.to_string() +
           " and gateway.next_hop is missing; write an address in that subnet, or the next hop";
  }
  return "";
}

void check_peers(const Gateway& config, Found& found) {
  // If the gateway's own address is wrong, the addresses of the peers are not compared with it.
  const bool has_address = !found.has("gateway.address");
  const Names links(config.links);
  std::map<IpAddress, std::size_t> addresses;
  std::map<std::string_view, std::size_t> names;
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const Peer& peer = config.peers[i];
    const std::string path = item("peers", i, "address");
    const std::string text = peer.address.to_string();
    const std::string why = has_address ? not_a_peer(config.gateway, peer.address) : "";
    if (!why.empty()) found.add(path, std::string(text).append(" ").append(why));
    for (const std::string& link : peer.links) {
      if (links.contains(link)) continue;
      found.add(item("peers", i, "link"),
                in_quotes(link) + " is not a link; there are: " + links.text());
    }
    const auto [address, is_new_address] = addresses.emplace(peer.address, i);
    if (!is_new_address) {
      found.add(path, text + " is the address of " + item("peers", address->second) +
                          " already; a peer appears once");
    }
    const auto [name, is_new_name] = names.emplace(peer.name, i);
    // A peer without a name has its address as the name.
    if (is_new_name || (!is_new_address && peer.name == text)) continue;
    found.add(item("peers", i, "name"), in_quotes(peer.name) + " is the name of " +
                                            item("peers", name->second) +
                                            " already; write another");
  }
}

// Prefixes that do not overlap, each with its peer, in the order of their addresses.
class ClaimedPrefixes {
 public:
  struct Claim {
    IpPrefix prefix;
    std::size_t peer;
  };
  // Returns the claim that overlaps the prefix. If there is none, adds the prefix.
  const Claim* claim(const IpPrefix& prefix, std::size_t peer) {
    const auto next = claims_.lower_bound(prefix.address);
    if (next != claims_.end() && prefix.contains(next->first)) return &next->second;
    if (next != claims_.begin()) {
      const auto before = std::prev(next);
      if (before->second.prefix.contains(prefix.address)) return &before->second;
    }
    claims_.emplace_hint(next, prefix.address, Claim{prefix, peer});
    return nullptr;
  }

 private:
  std::map<IpAddress, Claim> claims_;
};

void check_prefixes(const Gateway& config, Found& found) {
  ClaimedPrefixes of_v4;
  ClaimedPrefixes of_v6;
  for (std::size_t i = 0; i < config.peers.size(); ++i) {
    const std::vector<IpPrefix>& prefixes = config.peers[i].prefixes;
    for (std::size_t k = 0; k < prefixes.size(); ++k) {
      const IpPrefix& prefix = prefixes[k];
      const std::string path = item("peers", i, "prefixes") + "[" + std::to_string(k) + "]";
      if (prefix.address.is_multicast() && prefix.length > 0) {
        found.add(path, prefix.to_string() + " is multicast; write prefixes of hosts");
        continue;
      }
      const auto* other = (prefix.address.is_v4() ? of_v4 : of_v6).claim(prefix, i);
      if (other == nullptr) continue;
      found.add(path, prefix.to_string() + " overlaps " + other->prefix.to_string() + " of " +
                          item("peers", other->peer) +
                          "; write prefixes that each belong to one peer");
      // A peer without prefixes has all addresses of both families, which is one mistake.
      if (prefix.length == 0) break;
    }
  }
}

bool share_a_family(const std::vector<IpPrefix>& a, const std::vector<IpPrefix>& b) {
  return std::any_of(a.begin(), a.end(), [&](const IpPrefix& x) {
    return std::any_of(b.begin(), b.end(), [&](const IpPrefix& y) {
      return x.address.version() == y.address.version();
    });
  });
}

void check_rule_names(const std::vector<Rule>& rules, Found& found) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name.empty()) continue;
    const auto [first, is_new] = places.emplace(rules[i].name, i);
    if (is_new) continue;
    found.add(item("rules", i, "name"), in_quotes(rules[i].name) + " is the name of " +
                                            item("rules", first->second) +
                                            " already; write another");
  }
}

void check_rules(const std::vector<Rule>& rules, const std::vector<Peer>& peers, Found& found) {
  check_rule_names(rules, found);
  const Names names(peers);
  bool is_reached = true;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Match& match = rules[i].match;
    if (!match.source.empty() && !match.destination.empty() &&
        !share_a_family(match.source, match.destination)) {
      found.add(item("rules", i, "match"),
                "source and destination are of different families, so nothing matches; write "
                "one family");
    }
    for (const std::string& name : match.peer) {
      if (names.contains(name)) continue;
      found.add(item("rules", i, "match") + ".peer",
                in_quotes(name) + " is not a peer; there are" +
                    (peers.empty() ? std::string(" none here") : ": " + names.text()));
    }
    // All rules behind this one are unreachable. The first of them stands for them.
    if (is_reached && i + 1 < rules.size() && match == Match()) {
      is_reached = false;
      found.add(item("rules", i + 1), "is never reached, because " + item("rules", i) +
                                          " matches everything; move it up or remove it");
    }
  }
}

void check_classes(const Gateway& config, Found& found) {
  for (const Link& link : config.links) {
    if (guarantees_fit(config.classes, link)) continue;
    found.add("classes", "guarantee more than " + std::to_string(kMostGuaranteedPercent) +
                             "% of link " + link.name + ", which sends " + to_text(link.send_rate) +
                             "; its bridged_share counts too; write less");
  }
}

void check_lanes(const Gateway& config, Found& found) {
  std::map<std::string_view, const Link*> links;
  for (const Link& link : config.links) links.emplace(link.name, &link);
  for (const Peer& peer : config.peers) {
    const unsigned lanes = std::max(config.worker.count, peer.workers);
    if (config.stp.port > 65'536 - lanes) {
      found.add("stp.port", std::to_string(config.stp.port) + " leaves no room for the " +
                                std::to_string(lanes) + " lanes to peer " + peer.name +
                                ", a port each; write at most " + std::to_string(65'536 - lanes));
    }
    for (const std::string& name : peer.links) {
      const auto link = links.find(name);
      if (lanes == 1 || link == links.end() || !link->second->finds_capacity()) continue;
      found.add("links." + name + ".capacity",
                "find needs one worker at both ends, and there are " + std::to_string(lanes) +
                    " lanes to peer " + peer.name +
                    ": each would find what the others leave; write the link's rates");
    }
  }
}

void check_stp(const Gateway& config, Found& found) {
  const Stp& stp = config.stp;
  if (stp.mtu > config.wan.mtu) {
    found.add("stp.mtu", std::to_string(stp.mtu) + " exceeds ports.wan.mtu " +
                             std::to_string(config.wan.mtu) + "; write at most that");
  } else if (!config.gateway.own.is_v4() && stp.mtu < 1280) {
    found.add(config.wan.mtu < 1280 ? "ports.wan.mtu" : "stp.mtu",
              std::to_string(stp.mtu) + " is less than IPv6 needs; write at least 1280");
  }
  check_lanes(config, found);
  if (stp.suspect_after <= stp.ping_after) {
    found.add("stp.suspect_after", to_text(stp.suspect_after) + " is not longer than ping_after " +
                                       to_text(stp.ping_after) +
                                       ", so an idle peer would always be suspect; write more");
  }
}

void check_limits(const Limits& limits, Found& found) {
  if (limits.half_open > limits.flows) {
    found.add("limits.half_open", std::to_string(limits.half_open) + " exceeds limits.flows " +
                                      std::to_string(limits.flows) + "; write at most that");
  }
  // A value of 0 needs no check: the gateway then chooses a value that never exceeds its memory.
  const auto exceeds = [&](const char* path, ByteCount size, const char* other, ByteCount most) {
    if (most == ByteCount(0) || size <= most) return;
    found.add(path,
              to_text(size) + " exceeds " + other + " " + to_text(most) + "; write at most that");
  };
  exceeds("limits.flow_memory", limits.flow_memory, "limits.memory", limits.memory);
  exceeds("limits.host_window", limits.host_window, "limits.flow_memory", limits.flow_memory);
  exceeds("limits.host_window", limits.host_window, "limits.memory", limits.memory);
}

void check_records(const Records& records, Found& found) {
  if (!records.ipfix) return;
  const IpAddress& collector = records.ipfix->address;
  const auto refuse = [&](const char* what) {
    found.add("records.ipfix.collector",
              collector.to_string() + what + "; write the address of the collector");
  };
  if (is_unspecified(collector)) {
    refuse(" is the unspecified address");
  } else if (collector.is_multicast() && records.ipfix->transport == IpfixTransport::kTcp) {
    refuse(" is a multicast address, to which TCP cannot connect");
  }
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

std::vector<Contradiction> find_contradictions(const Gateway& config) {
  Found found;
  check_ports(config.lan, config.wan, "ports.lan", "ports.wan", found);
  check_following(config, found);
  check_address(config.gateway, found);
  check_peers(config, found);
  check_prefixes(config, found);
  check_classes(config, found);
  check_rules(config.rules, config.peers, found);
  check_stp(config, found);
  check_records(config.records, found);
  check_limits(config.limits, found);
  return std::move(found).list();
}

std::vector<Contradiction> find_contradictions(const SatLink& config) {
  Found found;
  check_ports(config.a, config.b, "ports.a", "ports.b", found);
  const ByteCount needed(bytes_in_flight(config.a_to_b) + bytes_in_flight(config.b_to_a));
  if (config.memory.value() != 0 && config.memory < needed) {
    found.add("memory", to_text(config.memory) +
                            " does not hold what rates, delays and queues keep in flight; "
                            "write at least " +
                            to_text(needed) + ", or leave it out");
  }
  return std::move(found).list();
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
  for (Contradiction& each : find_idle_rules(config.rules)) found.push_back(std::move(each));
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
