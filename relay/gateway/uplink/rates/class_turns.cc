#include "relay/gateway/uplink/rates/class_turns.h"

#include <algorithm>
#include <array>
#include <vector>

#include "config/model/traffic_class.h"
#include "relay/gateway/uplink/class_order.h"

namespace satrelay::gateway {

using schedule::ClassId;
using schedule::ClassSet;

// If there are several links, the gateway does not know which link the frame takes. So use the
// limits of the link with the longest wait.
HeldFrames::Terms ClassTurns::held_terms(ClassId turn) const {
  HeldFrames::Terms terms = parts_.carriers.front()->held_terms(turn);
  for (const auto& carrier : parts_.carriers) {
    const HeldFrames::Terms each = carrier->held_terms(turn);
    if (each.law.interval > terms.law.interval) terms = each;
  }
  return terms;
}

void ClassTurns::apply(Instant now) {
  for (const auto& carrier : parts_.carriers) {
    std::array<ClassRates, schedule::kClasses> rates;
    // Frames that still wait in a removed class must be sent.
    for (ClassSet gone = parts_.held.classes() & ~parts_.classes.in_use(); gone != 0;
         gone &= gone - 1) {
      rates[schedule::lowest_class(gone)].weight = 1;
    }
    for (const ClassId id : parts_.classes.order()) {
      const config::TrafficClass& c = parts_.classes[id].in_force;
      rates[id] = {.weight = c.weight, .guaranteed = c.guaranteed, .maximum = c.maximum};
    }
    ClassRates& bridged = rates[TrafficClasses::kBridged];
    bridged.guaranteed = config::bridged_guarantee(carrier->config, carrier->rate());
    // Another link has a bridged_share, and this link has none: serve bridged frames like any other
    // class.
    if (parts_.has_bridged_share && bridged.guaranteed.is_zero()) bridged.weight = 1;
    carrier->terms.classes = rates;
    carrier->terms.rate = carrier->rate();
    carrier->terms.reports = carrier->report_rate();
    carrier->classes.set(rates, now);
  }
}

ClassResult ClassTurns::set(std::string_view name, const ClassChange& change, Instant now) {
  const auto id = parts_.classes.find(name);
  if (!id || *id == TrafficClasses::kRelayed || *id == TrafficClasses::kBridged) {
    return ClassResult::kUnknownClass;
  }
  TrafficClassState& c = parts_.classes[*id];
  const config::TrafficClass next = change.apply(c.in_force, c.configured);
  if (!config::rates_agree(next)) return ClassResult::kContradiction;
  std::vector<config::TrafficClass> all;
  for (const ClassId each : parts_.classes.order()) {
    all.push_back(each == *id ? next : parts_.classes[each].in_force);
  }
  const auto fits = [&](const auto& carrier) {
    return config::guarantees_fit(all, carrier->config);
  };
  if (!std::ranges::all_of(parts_.carriers, fits)) return ClassResult::kAboveLink;
  c.in_force = next;
  apply(now);
  return ClassResult::kSet;
}

ClassRates ClassTurns::least_rates(ClassId id) const {
  ClassRates least = parts_.carriers.front()->terms.classes[id];
  for (const auto& carrier : parts_.carriers) {
    const ClassRates& rates = carrier->terms.classes[id];
    if (rates.guaranteed < least.guaranteed) least = rates;
  }
  return least;
}

// Without bridged_share, bridged frames without a class wait in the class of relayed connections.
ClassId ClassTurns::turn_of(ClassId id) const {
  return id == TrafficClasses::kBridged && !parts_.has_bridged_share ? TrafficClasses::kRelayed
                                                                     : id;
}
ClassId ClassTurns::counted_as(ClassId turn) const {
  return turn == TrafficClasses::kRelayed ? TrafficClasses::kBridged : turn;
}

std::size_t ClassTurns::held_frames(ClassId id) const {
  return id == TrafficClasses::kRelayed ? 0 : parts_.held.frames(turn_of(id));
}
std::uint64_t ClassTurns::held_bytes(ClassId id) const {
  return id == TrafficClasses::kRelayed ? 0 : parts_.held.bytes(turn_of(id));
}

std::size_t ClassTurns::waiting_hosts(ClassId id) const {
  std::size_t hosts = id == TrafficClasses::kRelayed ? 0 : parts_.held.hosts(turn_of(id));
  for (const Line& line : parts_.lines) {
    if ((line.session.waiting() & schedule::class_bit(id)) != 0)
      hosts += line.session.waiting_hosts(id);
  }
  return hosts;
}

}  // namespace satrelay::gateway
