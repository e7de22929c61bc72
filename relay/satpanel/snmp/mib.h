// The objects of SATRELAY-MIB (deploy/snmp/SATRELAY-MIB.txt), listed once: their numbers, their
// syntax, and the fields of a gateway's replies that they show. mib_test compares both.
//
// What counts bytes, frames and packets is Counter64, as RFC 3635 has it for fast links, and so is
// every other counter. What may fall is Gauge32, in units in which it does not come to its most:
// kbit/s, KiB. Numbers are never given to another object.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::panel {

enum class Syntax : std::uint8_t {
  kText,         // SatrelayText
  kInteger,      // of named values: 1 for other, 2 for the first of `words`, ...
  kGauge,        // Gauge32; at its most it stays
  kCounter,      // Counter64
  kTicks,        // TimeTicks, of milliseconds
  kDateAndTime,  // UTC, of milliseconds since 1970
};

struct MibObject {
  std::uint32_t number = 0;
  std::string_view name;
  Syntax syntax = Syntax::kText;
  const char* key = "";  // of the reply; "": filled in elsewhere
  std::string_view help;
  std::uint64_t divisor = 1;
  std::span<const std::string_view> words = {};
};

// A counter with name and help of its list.
template <typename Field>
constexpr MibObject counter(std::uint32_t number, std::string_view name, const Field& field) {
  return {number, name, Syntax::kCounter, field.name, field.help};
}

struct MibTable {
  std::uint32_t number;     // below satrelayObjects; its entry is 1
  std::string_view prefix;  // of its names: "satrelayPort"
  std::span<const MibObject> columns;
  std::span<const MibObject> counters = {};  // further columns, of the object `counters_in`
  const char* counters_in = "";              // "": of the entry itself
};

// Below enterprises and the number there (meson.build).
inline constexpr std::uint32_t kNotifications = 0;
inline constexpr std::uint32_t kObjects = 1;
inline constexpr std::uint32_t kAlarmRaised = 1;  // below kNotifications
inline constexpr std::uint32_t kAlarmCleared = 2;
inline constexpr std::uint32_t kEventTold = 3;

inline constexpr std::uint32_t kGatewayGroup = 1;  // of scalars, below kObjects
inline constexpr std::uint32_t kEventGroup = 7;    // of what notifications tell
inline constexpr std::uint32_t kEventAlarm = 9;    // in it; of one that is about no alarm left out

extern const std::span<const MibObject> kGatewayScalars;
// Of the numbers in kGatewayScalars those that are no field of the status.
inline constexpr std::uint32_t kGatewayState = 1;
inline constexpr std::uint32_t kGatewayName = 2;
inline constexpr std::uint32_t kPeers = 11;
inline constexpr std::uint32_t kPeersAlive = 12;
inline constexpr std::uint32_t kAlarms = 13;

extern const MibTable kPortTable;
extern const MibTable kPeerTable;
extern const MibTable kLinkTable;
extern const MibTable kClassTable;
extern const MibTable kAlarmTable;
extern const std::span<const MibObject> kEventObjects;

}  // namespace satrelay::panel
