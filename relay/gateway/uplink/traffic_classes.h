// The classes of traffic of a gateway: what is configured, what the operator has set since, and
// what was sent in each. A class keeps its number over a reload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/schema.h"
#include "pep/stp/streams/stream_class.h"
#include "relay/gateway/uplink/class_counters.h"
#include "relay/gateway/uplink/class_order.h"

namespace satrelay::gateway {

struct TrafficClassState {
  config::TrafficClass in_force;
  config::TrafficClass configured;
  ClassUse use;
};

class TrafficClasses {
 public:
  // What is of no class that has a name.
  static constexpr stp::ClassId kRelayed = 0;
  static constexpr stp::ClassId kBridged = 1;

  explicit TrafficClasses(const std::vector<config::TrafficClass>& configured);

  // A class that is there under the same name goes on counting; all are as configured.
  void replace(const std::vector<config::TrafficClass>& configured);

  std::optional<stp::ClassId> find(std::string_view name) const;
  stp::ClassId of_relayed(std::string_view name) const { return find(name).value_or(kRelayed); }
  stp::ClassId of_bridged(std::string_view name) const { return find(name).value_or(kBridged); }

  stp::ClassSet in_use() const { return in_use_; }
  // In the order of the configuration, behind them the two without a name.
  const std::vector<stp::ClassId>& order() const { return order_; }
  TrafficClassState& operator[](stp::ClassId id) { return classes_[id]; }
  const TrafficClassState& operator[](stp::ClassId id) const { return classes_[id]; }

 private:
  std::array<TrafficClassState, stp::kClasses> classes_;
  std::vector<stp::ClassId> order_;
  stp::ClassSet in_use_ = 0;
};

}  // namespace satrelay::gateway
