#include "config/checks/idle_rules.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace satrelay::config {
namespace {

// Whether each of `b` is in one of `a`. An empty list stands for everything.
template <typename T, typename Contains>
bool list_covers(const std::vector<T>& a, const std::vector<T>& b, const Contains& contains) {
  if (a.empty()) return true;
  return !b.empty() && std::ranges::all_of(b, [&](const T& inner) {
    return std::ranges::any_of(a, [&](const T& outer) { return contains(outer, inner); });
  });
}

template <typename T>
bool list_covers(const std::vector<T>& a, const std::vector<T>& b) {
  return list_covers(a, b, [](const T& outer, const T& inner) { return outer == inner; });
}

bool prefixes_cover(const std::vector<IpPrefix>& a, const std::vector<IpPrefix>& b) {
  return list_covers(a, b, [](const IpPrefix& outer, const IpPrefix& inner) {
    return outer.length <= inner.length && outer.contains(inner.address);
  });
}

bool is_every_address(const std::vector<IpPrefix>& prefixes) {
  const auto has_all_of = [&](IpVersion version) {
    return std::ranges::any_of(prefixes, [&](const IpPrefix& each) {
      return each.length == 0 && each.address.version() == version;
    });
  };
  return has_all_of(IpVersion::kV4) && has_all_of(IpVersion::kV6);
}

// The criteria without prefixes of all addresses, which every IP packet has.
Match for_ip(Match match) {
  for (std::vector<IpPrefix>* prefixes : {&match.source, &match.destination}) {
    if (is_every_address(*prefixes)) prefixes->clear();
  }
  return match;
}

std::string rule_path(std::size_t i) { return "rules[" + std::to_string(i) + "]"; }

}  // namespace

bool covers(const Match& a, const Match& b) {
  const auto within = [](const PortRange& outer, const PortRange& inner) {
    return outer.first <= inner.first && inner.last <= outer.last;
  };
  return prefixes_cover(a.source, b.source) && prefixes_cover(a.destination, b.destination) &&
         list_covers(a.port, b.port, within) && list_covers(a.protocol, b.protocol) &&
         list_covers(a.vlan, b.vlan) && list_covers(a.dscp, b.dscp) &&
         list_covers(a.peer, b.peer) && (!a.direction || a.direction == b.direction);
}

std::vector<Contradiction> find_idle_rules(const std::vector<Rule>& rules) {
  std::vector<Contradiction> found;
  const std::size_t compared = std::min(rules.size(), kMostCompared);
  std::vector<Match> of_ip;
  for (std::size_t i = 0; i < compared; ++i) {
    const bool is_for_ip = rules[i].action == Action::kAccelerate;
    of_ip.push_back(for_ip(rules[i].match));
    for (std::size_t first = 0; first < i; ++first) {
      if (!covers(is_for_ip ? of_ip[first] : rules[first].match, rules[i].match)) continue;
      found.push_back({rule_path(i), "is never reached, because " + rule_path(first) +
                                         " matches all that it matches; move it up or remove it"});
      break;
    }
  }
  const bool relays = std::ranges::any_of(
      rules, [](const Rule& each) { return each.action == Action::kAccelerate; });
  if (!rules.empty() && !relays) {
    found.push_back({"rules",
                     "have no action accelerate, so the gateway relays nothing; write {action: "
                     "accelerate} as the last rule unless that is wanted"});
  }
  return found;
}

}  // namespace satrelay::config
