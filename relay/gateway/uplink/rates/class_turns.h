// The classes of traffic on the carriers: which class a frame takes its turn in, how fast each
// class may be on each carrier, and what waits in a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pep/base/time.h"
#include "pep/schedule/class_set.h"
#include "relay/gateway/uplink/class_change.h"
#include "relay/gateway/uplink/command_result.h"
#include "relay/gateway/uplink/held_frames.h"
#include "relay/gateway/uplink/rates/uplink_parts.h"

namespace satrelay::gateway {

class ClassTurns {
 public:
  explicit ClassTurns(UplinkParts& parts) : parts_(parts) {}

  // Brings all carriers up to date with the classes, with the rates of the carriers, and with the
  // classes that frames wait in.
  void apply(Instant now);
  ClassResult set(std::string_view name, const ClassChange& change, Instant now);

  // The class that a frame of class `id` takes its turn in.
  schedule::ClassId turn_of(schedule::ClassId id) const;
  // The class that counts a bridged frame with that turn.
  schedule::ClassId counted_as(schedule::ClassId turn) const;
  HeldFrames::Terms held_terms(schedule::ClassId turn) const;

  std::size_t waiting_hosts(schedule::ClassId id) const;
  // Bridged frames that wait in this class.
  std::size_t held_frames(schedule::ClassId id) const;
  std::uint64_t held_bytes(schedule::ClassId id) const;

 private:
  UplinkParts& parts_;
};

}  // namespace satrelay::gateway
