// The classes of traffic on the carriers: the class in which a bridged frame waits, the rates of
// each class on each carrier, and the number of hosts, frames and bytes that wait in a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/shares/link_share.h"
#include "relay/gateway/uplink/class_change.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/rates/uplink_parts.h"

namespace satrelay::gateway {

class ClassTurns {
 public:
  explicit ClassTurns(UplinkParts& parts) : parts_(parts) {}

  // Updates all carriers after a change of the classes, of the rates of the carriers, or of the
  // classes in which frames wait.
  void apply(Instant now);
  ClassResult set(std::string_view name, const ClassChange& change, Instant now);

  // The class in which bridged frames of class `id` wait: `id` itself or kRelayed.
  schedule::ClassId turn_of(schedule::ClassId id) const;
  // The rates of the class on the link that guarantees it least: the gateway does not know which
  // link a bridged frame takes.
  ClassRates least_rates(schedule::ClassId id) const;
  // The class in which a bridged frame is counted after it has waited in class `turn`.
  schedule::ClassId counted_as(schedule::ClassId turn) const;
  HeldFrames::Terms held_terms(schedule::ClassId turn) const;

  std::size_t waiting_hosts(schedule::ClassId id) const;
  // Number of waiting bridged frames of this class, and of their bytes.
  std::size_t held_frames(schedule::ClassId id) const;
  std::uint64_t held_bytes(schedule::ClassId id) const;

 private:
  UplinkParts& parts_;
};

}  // namespace satrelay::gateway
