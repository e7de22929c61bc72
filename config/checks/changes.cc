#include "config/checks/changes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/model/words.h"
#include "config/text/format.h"
#include "config/text/rule_text.h"

namespace satrelay::config {
namespace {

// What counts in a comparison. Structures without a rule here have an operator== of their own.
template <typename Value>
const Value& content(const Value& value) {
  return value;
}
auto content(const Port& p) {
  return std::tie(p.driver, p.interface, p.pci, p.socket, p.memif_server, p.mtu, p.large_frames);
}
auto content(const Worker& w) { return std::tie(w.count, w.polling, w.cpus); }
auto content(const RateControl& c) {
  return std::tie(c.controller, c.target, c.period, c.window, c.initial_window, c.threshold,
                  c.growth, c.avoidance_growth, c.buffer);
}
auto content(const GatewayAddress& g) { return std::tie(g.address, g.own, g.vlan, g.next_hop); }
// Keys may change; whether there are any may not.
auto content(const Peer& p) {
  return std::make_tuple(p.name, p.address, p.prefixes, p.link, p.workers,
                         p.security.keys.has_value());
}
auto content(const Access& a) { return std::tie(a.group, a.mode); }
auto content(const Feedback& f) { return std::tie(f.mode, f.budget); }

class Differences {
 public:
  template <typename Value>
  void compare(const std::string& key, const Value& started, const Value& next) {
    if (!(content(started) == content(next))) keys.push_back(key);
  }
  std::vector<std::string> keys;
};

void compare_links(const Gateway& started, const Gateway& next, Differences& found) {
  if (started.links.size() != next.links.size()) {
    found.keys.emplace_back("links (one was added or removed)");
    return;
  }
  for (std::size_t i = 0; i < next.links.size(); ++i) {
    const Link& was = started.links[i];
    const Link& is = next.links[i];
    const std::string path = "links." + is.name;
    if (was.name != is.name) {
      found.keys.push_back(path + " (was " + was.name + ")");
      continue;
    }
    // Memory was sized for the rate at the start.
    if (is.planned_rate() > was.planned_rate())
      found.keys.push_back(path + ".send_rate (above the start's)");
    found.compare(path + ".receive_rate", was.receive_rate, is.receive_rate);
    found.compare(path + ".overhead", was.overhead, is.overhead);
    found.compare(path + ".capacity, controller and its parameters", was.control, is.control);
    found.compare(path + ".bridged_share", was.bridged_share, is.bridged_share);
  }
}

void compare_stp(const Stp& started, const Stp& next, Differences& found) {
  found.compare("stp.port", started.port, next.port);
  found.compare("stp.mtu", started.mtu, next.mtu);
  found.compare("stp.path_mtu", started.path_mtu, next.path_mtu);
  found.compare("stp.ping_after", started.ping_after, next.ping_after);
  found.compare("stp.suspect_after", started.suspect_after, next.suspect_after);
  found.compare("stp.feedback", started.feedback, next.feedback);
  found.compare("stp.fec", started.fec, next.fec);
  found.compare("stp.prompt_overhead", started.prompt_overhead, next.prompt_overhead);
}

void compare_limits(const Limits& started, const Limits& next, Differences& found) {
  found.compare("limits.flows", started.flows, next.flows);
  found.compare("limits.time_wait", started.time_wait, next.time_wait);
  found.compare("limits.memory", started.memory, next.memory);
  found.compare("limits.flow_memory", started.flow_memory, next.flow_memory);
  found.compare("limits.host_window", started.host_window, next.host_window);
}

class Changes {
 public:
  void compare(std::string key, std::string_view was, std::string_view is) {
    if (was != is) add(std::move(key), was, is);
  }
  void add(std::string key, std::string_view was, std::string_view is) {
    list_.push_back({std::move(key), std::string(was), std::string(is)});
  }
  std::vector<ChangedKey> list() && { return std::move(list_); }

 private:
  std::vector<ChangedKey> list_;
};

// How many there are, and those that `others` has not.
std::string own_rules(const std::vector<Rule>& rules, const std::vector<Rule>& others) {
  std::string text = std::to_string(rules.size()) + (rules.size() == 1 ? " rule" : " rules");
  const char* between = ": ";
  for (const Rule& rule : rules) {
    if (std::ranges::find(others, rule) != others.end()) continue;
    text.append(between).append(summary_of(rule));
    between = "; ";
  }
  return text;
}

void compare_rules(const std::vector<Rule>& was, const std::vector<Rule>& is, Changes& found) {
  if (was.size() != is.size()) {
    found.add("rules", own_rules(was, is), own_rules(is, was));
    return;
  }
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (was[i] == is[i]) continue;
    const std::string name = is[i].name.empty() ? std::to_string(i + 1) : is[i].name;
    const auto old = values_of(was[i]);
    const auto values = values_of(is[i]);
    for (std::size_t k = 0; k < values.size(); ++k) {
      found.compare("rules." + name + "." + std::string(values[k].first), old[k].second,
                    values[k].second);
    }
  }
}

std::string rate_or(BitRate rate, const char* zero) {
  return rate == BitRate() ? zero : to_text(rate);
}

void compare_classes(const std::vector<TrafficClass>& was, const std::vector<TrafficClass>& is,
                     Changes& found) {
  const auto in = [](const std::vector<TrafficClass>& classes, const std::string& name) {
    const auto same = std::ranges::find(classes, name, &TrafficClass::name);
    return same == classes.end() ? nullptr : &*same;
  };
  for (const TrafficClass& each : was) {
    if (in(is, each.name) == nullptr) found.add("classes." + each.name, "there", "none");
  }
  for (const TrafficClass& each : is) {
    const std::string path = "classes." + each.name;
    const TrafficClass* const old = in(was, each.name);
    if (old == nullptr) {
      found.add(path, "none", "there");
      continue;
    }
    found.compare(path + ".weight", std::to_string(old->weight), std::to_string(each.weight));
    found.compare(path + ".guaranteed", rate_or(old->guaranteed, "none"),
                  rate_or(each.guaranteed, "none"));
    found.compare(path + ".maximum", rate_or(old->maximum, "none"), rate_or(each.maximum, "none"));
  }
}

std::string dictionary_of(std::size_t size, const char* which) {
  return size == 0 ? "none" : std::string(which) + " of " + std::to_string(size) + " bytes";
}

std::string rate_of(const Link& link) {
  return link.finds_capacity() && link.send_rate == kMostLinkRate ? "none"
                                                                  : to_text(link.send_rate);
}

std::size_t mark_of(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::size_t mark_of(const PresharedKeys& keys) {
  const std::size_t current = mark_of(keys.current.bytes());
  return keys.other ? current * 31 + mark_of(keys.other->bytes()) : current;
}

}  // namespace

std::vector<std::string> needs_restart(const Gateway& started, const Gateway& next) {
  Differences found;
  found.compare("ports.lan", started.lan, next.lan);
  found.compare("ports.wan", started.wan, next.wan);
  found.compare("gateway", started.gateway, next.gateway);
  compare_links(started, next, found);
  const bool same_peers = std::ranges::equal(
      started.peers, next.peers,
      [](const Peer& was, const Peer& is) { return content(was) == content(is); });
  if (!same_peers) found.keys.emplace_back("peers");
  found.compare("fair_hosts", started.fair_hosts, next.fair_hosts);
  compare_stp(started.stp, next.stp, found);
  compare_limits(started.limits, next.limits, found);
  found.compare("worker", started.worker, next.worker);
  found.compare("compress_level", started.compress_level, next.compress_level);
  found.compare("stats_socket_prefix", started.stats_socket_prefix, next.stats_socket_prefix);
  found.compare("control_socket", started.control_socket, next.control_socket);
  found.compare("access.stats", started.stats_access, next.stats_access);
  found.compare("access.user", started.user, next.user);
  found.compare("access.control", started.control_access, next.control_access);
  found.compare("journal", started.journal, next.journal);
  found.compare("records", started.records, next.records);
  return found.keys;
}

Changeable::Changeable(const Gateway& config) : config_(config) {
  for (Peer& peer : config_.peers) {
    keys_.push_back(peer.security.keys ? mark_of(*peer.security.keys) : 0);
    peer.security.forget_keys();
  }
  for (TrafficClass& each : config_.classes) {
    dictionaries_.push_back({each.dictionary.size(), mark_of(each.dictionary)});
    each.dictionary = {};
  }
}

std::vector<ChangedKey> Changeable::changes_since(const Changeable& before) const {
  const Gateway& was = before.config_;
  Changes found;
  compare_rules(was.rules, config_.rules, found);
  compare_classes(was.classes, config_.classes, found);
  for (std::size_t i = 0; i < config_.classes.size(); ++i) {
    const std::string& name = config_.classes[i].name;
    const auto same = std::ranges::find(was.classes, name, &TrafficClass::name);
    if (same == was.classes.end()) continue;
    const Dictionary& old = before.dictionaries_[std::size_t(same - was.classes.begin())];
    if (old.mark == dictionaries_[i].mark) continue;
    found.add("classes." + name + ".dictionary", dictionary_of(old.size, "one"),
              dictionary_of(dictionaries_[i].size, "another"));
  }
  for (std::size_t i = 0; i < std::min(was.peers.size(), config_.peers.size()); ++i) {
    if (before.keys_[i] == keys_[i]) continue;
    found.add("the keys of peer " + config_.peers[i].name, "secret ones", "other secret ones");
  }
  for (std::size_t i = 0; i < std::min(was.links.size(), config_.links.size()); ++i) {
    const std::string path = "links." + config_.links[i].name;
    const Link& old = was.links[i];
    const Link& is = config_.links[i];
    found.compare(path + ".send_rate", rate_of(old), rate_of(is));
    found.compare(path + ".bridged_queue", to_text(old.bridged_queue), to_text(is.bridged_queue));
  }
  found.compare("limits.half_open", std::to_string(was.limits.half_open),
                std::to_string(config_.limits.half_open));
  found.compare("limits.idle_timeout", to_text(was.limits.idle_timeout),
                to_text(config_.limits.idle_timeout));
  found.compare("limits.half_close_timeout", to_text(was.limits.half_close_timeout),
                to_text(config_.limits.half_close_timeout));
  found.compare("stp.give_up_after", to_text(was.stp.give_up_after),
                to_text(config_.stp.give_up_after));
  found.compare("tcp.congestion", word_of(was.tcp.congestion), word_of(config_.tcp.congestion));
  found.compare("tcp.ecn", was.tcp.ecn ? "on" : "off", config_.tcp.ecn ? "on" : "off");
  found.compare("log", word_of(was.log_level), word_of(config_.log_level));
  return std::move(found).list();
}

}  // namespace satrelay::config
