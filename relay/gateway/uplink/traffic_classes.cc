#include "relay/gateway/uplink/traffic_classes.h"

#include "config/model/traffic_class.h"

namespace satrelay::gateway {

using schedule::ClassId;
using schedule::ClassSet;

// If a reload replaces all classes, the old and the new classes need numbers at the same time.
static_assert(2 * config::kMostClasses + 2 <= schedule::kClasses);

TrafficClasses::TrafficClasses(const std::vector<config::TrafficClass>& configured,
                               const ClassDictionaries& dictionaries) {
  classes_[kRelayed].in_force.name = config::kRelayedName;
  classes_[kBridged].in_force.name = config::kBridgedName;
  // The class is guaranteed the bridged_share of each link. In addition it gets only the rate that
  // the other classes leave.
  classes_[kBridged].in_force.weight = 0;
  for (const ClassId id : {kRelayed, kBridged}) classes_[id].configured = classes_[id].in_force;
  replace(configured, dictionaries);
}

std::optional<ClassId> TrafficClasses::find(std::string_view name) const {
  for (ClassSet set = in_use_; set != 0 && !name.empty(); set &= set - 1) {
    const ClassId id = schedule::lowest_class(set);
    if (classes_[id].in_force.name == name) return id;
  }
  return std::nullopt;
}

void TrafficClasses::replace(const std::vector<config::TrafficClass>& configured,
                             const ClassDictionaries& dictionaries) {
  constexpr ClassSet kNameless = schedule::class_bit(kRelayed) | schedule::class_bit(kBridged);
  ClassSet next = kNameless;
  for (const config::TrafficClass& each : configured) {
    if (const auto id = find(each.name)) next |= schedule::class_bit(*id);
  }
  // Frames may wait in a removed class, so the next new class does not get its number.
  ClassSet free = ~(in_use_ | next);
  order_.clear();
  for (const config::TrafficClass& each : configured) {
    auto id = find(each.name);
    if (!id) {
      id = schedule::lowest_class(free);
      free &= free - 1;
      classes_[*id] = {};
      next |= schedule::class_bit(*id);
    }
    TrafficClassState& state = classes_[*id];
    state.configured = each;
    state.configured.dictionary.clear();
    state.in_force = state.configured;
    state.dictionary = dictionaries.of(each.name);
    order_.push_back(*id);
  }
  for (ClassSet gone = in_use_ & ~next; gone != 0; gone &= gone - 1) {
    classes_[schedule::lowest_class(gone)].dictionary = nullptr;
  }
  order_.insert(order_.end(), {kRelayed, kBridged});
  in_use_ = next;
}

}  // namespace satrelay::gateway
