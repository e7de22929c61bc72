// The classes of traffic of a gateway: their configuration, the changes that the operator has made
// since, and counts of their traffic. A class keeps its number over a reload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/histogram.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/gateway/uplink/class_dictionaries.h"
#include "relay/gateway/uplink/class_order.h"

namespace satrelay::gateway {

struct TrafficClassState {
  config::TrafficClass in_force;
  config::TrafficClass configured;
  // nullptr if the class has no dictionary. Classes without a configured name have no dictionary.
  ClassDictionaries::Levels dictionary;
  ClassUse use;
  Histogram relayed_waits{kRelayedWait.bounds};
  Histogram bridged_waits{kBridgedWait.bounds};  // waits of the bridged frames that were queued
};

class TrafficClasses {
 public:
  // Relayed and bridged traffic that has no configured class is in these two classes.
  static constexpr schedule::ClassId kRelayed = 0;
  static constexpr schedule::ClassId kBridged = 1;

  explicit TrafficClasses(const std::vector<config::TrafficClass>& configured,
                          const ClassDictionaries& dictionaries = {});

  // A class that keeps its name keeps its number and its counts. Changes that the operator made at
  // run time are lost.
  void replace(const std::vector<config::TrafficClass>& configured,
               const ClassDictionaries& dictionaries = {});

  std::optional<schedule::ClassId> find(std::string_view name) const;
  schedule::ClassId of_relayed(std::string_view name) const {
    return find(name).value_or(kRelayed);
  }
  schedule::ClassId of_bridged(std::string_view name) const {
    return find(name).value_or(kBridged);
  }

  schedule::ClassSet in_use() const { return in_use_; }
  // The classes in the order of the configuration, followed by kRelayed and kBridged.
  const std::vector<schedule::ClassId>& order() const { return order_; }
  TrafficClassState& operator[](schedule::ClassId id) { return classes_[id]; }
  const TrafficClassState& operator[](schedule::ClassId id) const { return classes_[id]; }

 private:
  std::array<TrafficClassState, schedule::kClasses> classes_;
  std::vector<schedule::ClassId> order_;
  schedule::ClassSet in_use_ = 0;
};

}  // namespace satrelay::gateway
