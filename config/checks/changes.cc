#include "config/checks/changes.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "config/readers/read_classes.h"
#include "config/readers/read_common.h"
#include "config/readers/read_gateway.h"
#include "config/readers/read_limits.h"
#include "config/readers/read_links.h"
#include "config/readers/read_peers.h"
#include "config/readers/read_rate_control.h"
#include "config/readers/read_records.h"
#include "config/readers/read_rules.h"
#include "config/readers/read_stp.h"
#include "config/text/rule_text.h"

namespace satrelay::config {
namespace {

// Whether the two sections differ in a key that a reload cannot change.
template <typename Section>
bool needs_restart(const Keys<Section>& keys, const Section& started, const Section& next) {
  return std::ranges::any_of(keys, [&](const Key<Section>& row) {
    return row.text.reload == Reload::kRestart && row.show(started) != row.show(next);
  });
}

class Differences {
 public:
  // Adds the path of each key that differs and that a reload cannot change.
  template <typename Section>
  void compare(const std::string& path, const Keys<Section>& keys, const Section& started,
               const Section& next) {
    for (const Key<Section>& row : keys) {
      if (row.text.reload != Reload::kRestart || row.show(started) == row.show(next)) continue;
      names_.push_back(path + row.text.name);
    }
  }
  // Adds `name`, the name of the whole section, if the two sections differ in a key that a reload
  // cannot change.
  template <typename Section>
  void compare_whole(const std::string& name, const Keys<Section>& keys, const Section& started,
                     const Section& next) {
    if (needs_restart(keys, started, next)) names_.push_back(name);
  }
  void add(std::string name) { names_.push_back(std::move(name)); }
  std::vector<std::string> names() && { return std::move(names_); }

 private:
  std::vector<std::string> names_;
};

void compare_links(const Gateway& started, const Gateway& next, Differences& found) {
  if (started.links.size() != next.links.size()) {
    found.add("links (one was added or removed)");
    return;
  }
  for (std::size_t i = 0; i < next.links.size(); ++i) {
    const Link& was = started.links[i];
    const Link& is = next.links[i];
    const std::string path = "links." + is.name;
    if (was.name != is.name) {
      found.add(path + " (was " + was.name + ")");
      continue;
    }
    // The memory was sized for the rate at the start of the gateway.
    if (is.planned_rate() > was.planned_rate()) found.add(path + ".send_rate (above the start's)");
    found.compare_whole(path + ".capacity, controller and its parameters", control_keys(),
                        was.control, is.control);
    found.compare(path + ".", link_keys(), was, is);
  }
}

bool same_peers(const std::vector<Peer>& started, const std::vector<Peer>& next) {
  return std::ranges::equal(started, next, [](const Peer& was, const Peer& is) {
    return !needs_restart(peer_keys(), was, is);
  });
}

class Changes {
 public:
  // Adds the path of each key that differs and that a reload changes.
  template <typename Section>
  void compare(const std::string& path, const Keys<Section>& keys, const Section& was,
               const Section& is) {
    for (const Key<Section>& row : keys) {
      if (row.text.reload != Reload::kLive) continue;
      const std::string before = row.show(was);
      const std::string after = row.show(is);
      if (before != after) add(path + row.text.name, before, after);
    }
  }
  void add(std::string key, std::string_view was, std::string_view is) {
    list_.push_back({std::move(key), std::string(was), std::string(is)});
  }
  std::vector<ChangedKey> list() && { return std::move(list_); }

 private:
  std::vector<ChangedKey> list_;
};

// Returns a text with the number of `rules`, and with each rule that is not in `others`.
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
    found.compare("rules." + name + ".", rule_keys(), was[i], is[i]);
  }
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
    const TrafficClass* const old = in(was, each.name);
    if (old == nullptr) {
      found.add("classes." + each.name, "none", "there");
      continue;
    }
    found.compare("classes." + each.name + ".", class_keys(), *old, each);
  }
}

std::string dictionary_of(std::size_t size, const char* which) {
  return size == 0 ? "none" : std::string(which) + " of " + std::to_string(size) + " bytes";
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
  found.compare_whole("ports.lan", port_keys(), started.lan, next.lan);
  found.compare_whole("ports.wan", port_keys(), started.wan, next.wan);
  found.compare_whole("gateway", address_keys(), started.gateway, next.gateway);
  compare_links(started, next, found);
  if (!same_peers(started.peers, next.peers)) found.add("peers");
  found.compare("stp.", stp_keys(), started.stp, next.stp);
  found.compare("stp.feedback.", feedback_keys(), started.stp.feedback, next.stp.feedback);
  found.compare("limits.", limits_keys(), started.limits, next.limits);
  found.compare_whole("worker", worker_keys(), started.worker, next.worker);
  found.compare("", gateway_keys(), started, next);
  found.compare("access.", gateway_access_keys(), started, next);
  found.compare_whole("records", records_keys(), started.records, next.records);
  return std::move(found).names();
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
    found.compare("links." + config_.links[i].name + ".", link_keys(), was.links[i],
                  config_.links[i]);
  }
  found.compare("limits.", limits_keys(), was.limits, config_.limits);
  found.compare("stp.", stp_keys(), was.stp, config_.stp);
  found.compare("tcp.", tcp_keys(), was.tcp, config_.tcp);
  found.compare("", gateway_keys(), was, config_);
  return std::move(found).list();
}

}  // namespace satrelay::config
