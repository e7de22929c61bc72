// The classes of traffic of a gateway: what is configured, what the operator has set since, and
// what was sent in each. A class keeps its number over a reload.
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
  ClassDictionaries::Levels dictionary;  // nullptr: none. The other two have none.
  ClassUse use;
  Histogram relayed_waits{kRelayedWait.bounds};
  Histogram bridged_waits{kBridgedWait.bounds};  // of those that had to wait
};

class TrafficClasses {
 public:
  // What is of no class that has a name.
  static constexpr schedule::ClassId kRelayed = 0;
  static constexpr schedule::ClassId kBridged = 1;

  explicit TrafficClasses(const std::vector<config::TrafficClass>& configured,
                          const ClassDictionaries& dictionaries = {});

  // A class that is there under the same name goes on counting; all are as configured.
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
  // In the order of the configuration, behind them the two without a name.
  const std::vector<schedule::ClassId>& order() const { return order_; }
  TrafficClassState& operator[](schedule::ClassId id) { return classes_[id]; }
  const TrafficClassState& operator[](schedule::ClassId id) const { return classes_[id]; }

 private:
  std::array<TrafficClassState, schedule::kClasses> classes_;
  std::vector<schedule::ClassId> order_;
  schedule::ClassSet in_use_ = 0;
};

}  // namespace satrelay::gateway
