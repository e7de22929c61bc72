#include "relay/sim/checks/reduction.h"

#include <algorithm>
#include <charconv>

namespace satrelay::sim {
namespace {

using Places = std::size_t (*)(const Scenario&);
using Apply = bool (*)(Scenario&, std::size_t place);

struct Entry {
  std::string_view name;
  Places places;
  Apply apply;
};

template <typename T>
bool assign(T& member, const T& value) {
  if (member == value) return false;
  member = value;
  return true;
}

template <typename T>
bool clear(std::vector<T>& list) {
  if (list.empty()) return false;
  list.clear();
  return true;
}

template <typename T>
bool erase(std::vector<T>& list, std::size_t place) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

bool halve(Duration& duration) {
  constexpr Duration kShortest = Duration::milliseconds(1);
  if (duration <= kShortest) return false;
  duration = Duration::milliseconds(duration.to_milliseconds() / 2);
  return true;
}

bool halve(std::uint32_t& count) {
  if (count < 2) return false;
  count /= 2;
  return true;
}

template <typename T>
bool remove(std::optional<T>& part) {
  part.reset();
  return true;
}

constexpr std::size_t kMostTricks = 32;  // number of bits in a set of tricks

// Leaves at least one trick, since another reduction removes the whole adversary.
bool drop_trick(std::uint32_t& tricks, std::size_t which) {
  const std::uint32_t left = tricks & ~(std::uint32_t{1} << which);
  if (left == tricks || left == 0) return false;
  tricks = left;
  return true;
}

std::size_t one(const Scenario&) { return 1; }
std::size_t hostile(const Scenario& s) { return s.hostile_peer ? 1 : 0; }
std::size_t two(const Scenario&) { return 2; }  // two sides, or two directions of the link
std::size_t flows(const Scenario& s) { return s.flows.size(); }
std::size_t plans(const Scenario& s) { return 2 * s.flows.size(); }
std::size_t rules(const Scenario& s) { return s.rules.size(); }
std::size_t hosts(const Scenario& s) {
  return s.stations[0].hosts.size() + s.stations[1].hosts.size();
}

config::LinkDirection& way(Scenario& s, std::size_t place) {
  return place == 0 ? s.a_to_b : s.b_to_a;
}
config::LinkDirection& cable(Scenario& s, std::size_t place) { return s.stations[place].cable; }
config::Limits& limits(Scenario& s, std::size_t place) { return s.stations[place].limits; }
HostSpec& host(Scenario& s, std::size_t place) {
  const std::size_t first = s.stations[0].hosts.size();
  return place < first ? s.stations[0].hosts[place] : s.stations[1].hosts[place - first];
}
Plan& plan(Scenario& s, std::size_t place) {
  FlowSpec& flow = s.flows[place / 2];
  return place % 2 == 0 ? flow.client_plan : flow.server_plan;
}

// Halves the bytes that a side sends. Lowers the thresholds of the receiver's plan as well, so that
// the receiver does not wait for bytes that are no longer sent.
bool halve_bytes(Scenario& s, std::size_t place) {
  Plan& sender = plan(s, place);
  Plan& receiver = plan(s, place ^ 1U);
  if (sender.send_bytes < 2) return false;
  sender.send_bytes /= 2;
  receiver.send_after = std::min(receiver.send_after, sender.send_bytes);
  receiver.abort_at = std::min(receiver.abort_at, sender.send_bytes);
  if (receiver.dead_after) {
    receiver.dead_after = std::min(*receiver.dead_after, sender.send_bytes);
  }
  return true;
}

bool read_at_once(Plan& plan) {
  const bool rate = assign(plan.read_rate, BitRate());
  return assign(plan.read_pause, Duration::zero()) || rate;
}

bool plain_cable(Scenario& s, std::size_t place) {
  config::LinkDirection plain;
  plain.rate = BitRate::bits_per_second(1'000'000'000);
  plain.delay = Duration::microseconds(100);
  config::LinkDirection& now = cable(s, place);
  if (now.rate == plain.rate && now.delay == plain.delay && now.loss <= 0) return false;
  now = plain;
  return true;
}

bool one_worker(Scenario& s, std::size_t place) { return assign(s.stations[place].workers, 1U); }

bool perfect_cable(Scenario& s, std::size_t place) {
  config::LinkDirection& now = cable(s, place);
  if (now.loss <= 0 && now.duplicate <= 0 && now.reorder <= 0) return false;
  now.loss = now.duplicate = now.reorder = 0;
  return true;
}

bool no_bursts(Scenario& s, std::size_t place) {
  if (!way(s, place).gilbert_elliott) return false;
  way(s, place).gilbert_elliott.reset();
  return true;
}

bool usual_link(Scenario& s, std::size_t place) {
  const LinkSpec usual;
  const bool rate = assign(way(s, place).rate, usual.rate);
  return assign(way(s, place).delay, usual.one_way_delay) || rate;
}

bool usual_stack(Scenario& s, std::size_t place) {
  HostSpec& now = host(s, place);
  const tcp::Config usual = make_host(Side::kA, 0, 0).tcp;
  bool changed = assign(now.tcp.mss, usual.mss);
  changed = assign(now.tcp.send_limit, usual.send_limit) || changed;
  changed = assign(now.tcp.receive_limit, usual.receive_limit) || changed;
  changed = assign(now.tcp.window_scale, usual.window_scale) || changed;
  changed = assign(now.tcp.congestion, usual.congestion) || changed;
  changed = assign(now.offer_window_scale, true) || changed;
  changed = assign(now.offer_sack, true) || changed;
  return assign(now.offer_timestamps, true) || changed;
}

bool untagged(Scenario& s, std::size_t place) {
  bool changed = false;
  for (Station& station : s.stations) {
    if (place >= station.hosts.size() || !station.hosts[place].addresses.vlan) continue;
    station.hosts[place].addresses.vlan.reset();
    changed = true;
  }
  return changed;
}

template <typename Member>
bool local(Scenario& s, Member member) {
  const config::FlowModes usual;
  bool changed = false;
  for (config::Rule& rule : s.rules) {
    changed = assign(rule.modes.*member, usual.*member) || changed;
  }
  return changed;
}

// Changes nothing if a rule has end-to-end acknowledgments, since such a rule needs a remote
// handshake.
bool local_handshake(Scenario& s, std::size_t) {
  using config::AckMode;
  for (const config::Rule& rule : s.rules) {
    if (rule.modes.ack == AckMode::kEndToEnd) return false;
  }
  return local(s, &config::FlowModes::handshake);
}

bool start_early(Scenario& s, std::size_t place) {
  return assign(s.flows[place].start, Instant() + Duration::seconds(3));
}

constexpr Entry kEntries[] = {
    {"flow", flows, [](Scenario& s, std::size_t i) { return erase(s.flows, i); }},
    {"restart", [](const Scenario& s) { return s.restarts.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.restarts, i); }},
    {"outage", [](const Scenario& s) { return s.outages.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.outages, i); }},
    {"vanishing", [](const Scenario& s) { return s.vanishings.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.vanishings, i); }},
    {"shrinking", [](const Scenario& s) { return s.shrinkings.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.shrinkings, i); }},
    {"absence", [](const Scenario& s) { return s.absences.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.absences, i); }},
    {"hostile-peer", hostile, [](Scenario& s, std::size_t) { return remove(s.hostile_peer); }},
    {"forging", [](const Scenario& s) { return s.forgings.size(); },
     [](Scenario& s, std::size_t i) { return erase(s.forgings, i); }},
    {"peer-trick", [](const Scenario& s) { return hostile(s) * kMostTricks; },
     [](Scenario& s, std::size_t i) { return drop_trick(s.hostile_peer->tricks, i); }},
    {"lan-trick", [](const Scenario& s) { return s.forgings.size() * kMostTricks; },
     [](Scenario& s, std::size_t i) {
       return drop_trick(s.forgings[i / kMostTricks].tricks, i % kMostTricks);
     }},
    // The following reductions change one direction of the link: place 0 is a_to_b, place 1 is
    // b_to_a.
    {"bursts", two, no_bursts},
    {"loss", two, [](Scenario& s, std::size_t i) { return assign(way(s, i).loss, 0.0); }},
    {"jitter", two,
     [](Scenario& s, std::size_t i) { return assign(way(s, i).jitter, Duration::zero()); }},
    {"reorder", two, [](Scenario& s, std::size_t i) { return assign(way(s, i).reorder, 0.0); }},
    {"duplicate", two, [](Scenario& s, std::size_t i) { return assign(way(s, i).duplicate, 0.0); }},
    {"corrupt", two, [](Scenario& s, std::size_t i) { return assign(way(s, i).corrupt, 0.0); }},
    {"delay-steps", two, [](Scenario& s, std::size_t i) { return clear(way(s, i).delay_steps); }},
    {"rate-steps", two, [](Scenario& s, std::size_t i) { return clear(way(s, i).rate_steps); }},
    {"link", two, usual_link},
    // Reductions of the stations, one place for each side.
    {"cable-faults", two, perfect_cable},
    {"cable", two, plain_cable},
    {"workers", two, one_worker},
    {"memory", two,
     [](Scenario& s, std::size_t i) { return assign(limits(s, i).memory, ByteCount(64 << 20)); }},
    {"flow-memory", two,
     [](Scenario& s, std::size_t i) {
       return assign(limits(s, i).flow_memory, config::Limits().flow_memory);
     }},
    {"host-window", two,
     [](Scenario& s, std::size_t i) {
       return assign(limits(s, i).host_window, config::Limits().host_window);
     }},
    {"flow-table", two,
     [](Scenario& s, std::size_t i) { return assign(limits(s, i).flows, 1024U); }},
    {"half-open", two,
     [](Scenario& s, std::size_t i) { return assign(limits(s, i).half_open, 256U); }},
    {"tick", two,
     [](Scenario& s, std::size_t i) { return assign(s.stations[i].tick, Duration::zero()); }},
    {"stack", hosts, usual_stack},
    {"vlan", [](const Scenario& s) { return s.stations[0].hosts.size(); }, untagged},
    // Reductions of the whole scenario.
    {"ack", one, [](Scenario& s, std::size_t) { return local(s, &config::FlowModes::ack); }},
    {"handshake", one, local_handshake},
    {"close", one, [](Scenario& s, std::size_t) { return local(s, &config::FlowModes::close); }},
    {"window", one, [](Scenario& s, std::size_t) { return local(s, &config::FlowModes::window); }},
    {"delivery", one,
     [](Scenario& s, std::size_t) { return local(s, &config::FlowModes::delivery); }},
    {"compress", rules,
     [](Scenario& s, std::size_t i) {
       return assign(s.rules[i].compress, config::Compress::kOff);
     }},
    {"classes", one,
     [](Scenario& s, std::size_t) {
       for (config::Rule& rule : s.rules) rule.traffic_class.clear();
       s.fair_hosts = config::FairHosts::kLocal;
       return clear(s.classes);
     }},
    {"rule", rules,
     [](Scenario& s, std::size_t i) { return s.rules.size() > 1 && erase(s.rules, i); }},
    {"arp", one, [](Scenario& s, std::size_t) { return assign(s.static_neighbours, true); }},
    {"stp-mtu", one, [](Scenario& s, std::size_t) { return assign(s.stp.mtu, config::Stp().mtu); }},
    {"journal", one, [](Scenario& s, std::size_t) { return assign(s.journal, false); }},
    {"encryption", one, [](Scenario& s, std::size_t) { return assign(s.encrypts, false); }},
    {"overhead", one,
     [](Scenario& s, std::size_t) { return assign(s.overhead, config::kOverheadEthernet); }},
    // Reductions of the flows' plans, and reductions to milder faults.
    {"slow", plans, [](Scenario& s, std::size_t i) { return read_at_once(plan(s, i)); }},
    {"half", plans, halve_bytes},
    {"ipv6", flows,
     [](Scenario& s, std::size_t i) { return assign(s.flows[i].version, IpVersion::kV4); }},
    {"start", flows, start_early},
    {"shorter-outage", [](const Scenario& s) { return s.outages.size(); },
     [](Scenario& s, std::size_t i) { return halve(s.outages[i].length); }},
    {"fewer-packets", hostile,
     [](Scenario& s, std::size_t) { return halve(s.hostile_peer->packets); }},
    {"fewer-frames", [](const Scenario& s) { return s.forgings.size(); },
     [](Scenario& s, std::size_t i) { return halve(s.forgings[i].frames); }},
    {"shorter-restart", [](const Scenario& s) { return s.restarts.size(); },
     [](Scenario& s, std::size_t i) { return halve(s.restarts[i].down); }},
};
constexpr std::string_view kFlow = "flow";

const Entry* find(std::string_view name) {
  const auto* found = std::ranges::find(kEntries, name, &Entry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

bool read_number(std::string_view& text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::optional<Reduction> parse_one(std::string_view text) {
  Reduction step;
  const Entry* entry = find(text.substr(0, text.find(':')));
  if (entry == nullptr || entry->name.size() == text.size()) return std::nullopt;
  step.name = entry->name;
  text.remove_prefix(entry->name.size() + 1);
  if (!read_number(text, step.place)) return std::nullopt;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (!read_number(text, step.count)) return std::nullopt;
  }
  return text.empty() ? std::optional(step) : std::nullopt;
}

}  // namespace

bool apply(const Reduction& reduction, Scenario& scenario) {
  const Entry* entry = find(reduction.name);
  const std::size_t places = entry == nullptr ? 0 : entry->places(scenario);
  if (reduction.count == 0 || reduction.count > places) return false;
  if (reduction.place > places - reduction.count) return false;
  if (reduction.count > 1 && reduction.name != kFlow) return false;
  for (std::size_t i = 1; i < reduction.count; ++i) entry->apply(scenario, reduction.place);
  return entry->apply(scenario, reduction.place);
}

std::vector<ReductionKind> kinds_for(const Scenario& scenario) {
  std::vector<ReductionKind> kinds;
  for (const Entry& entry : kEntries) {
    kinds.push_back({entry.name, entry.places(scenario), entry.name == kFlow});
  }
  return kinds;
}

std::string to_string(const std::vector<Reduction>& steps) {
  std::string text;
  for (const Reduction& step : steps) {
    if (!text.empty()) text += ' ';
    text += std::string(step.name) + ':' + std::to_string(step.place);
    if (step.count > 1) text += '+' + std::to_string(step.count);
  }
  return text;
}

std::optional<std::vector<Reduction>> parse_reductions(std::string_view text) {
  std::vector<Reduction> steps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      const auto step = parse_one(text.substr(0, end));
      if (!step) return std::nullopt;
      steps.push_back(*step);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return steps;
}

}  // namespace satrelay::sim
