// The objects of SATRELAY-MIB (deploy/snmp/SATRELAY-MIB.txt), listed once: their numbers, their
// syntax, and the fields of a gateway's replies that they show. mib_test compares the list with the
// file.
//
// All counters are Counter64, as RFC 3635 requires for bytes, frames and packets of fast links.
// Values that may fall are Gauge32, in units large enough that they stay below the maximum: kbit/s,
// KiB. The number of an object is never given to another object.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::panel {

enum class Syntax : std::uint8_t {
  kText,         // SatrelayText
  kInteger,      // an enumeration: 1 means other, 2 means the first of `words`, ...
  kGauge,        // Gauge32; larger values are shown as the maximum
  kCounter,      // Counter64
  kTicks,        // TimeTicks, from milliseconds
  kDateAndTime,  // UTC, from milliseconds since 1970
};

struct MibObject {
  std::uint32_t number = 0;
  std::string_view name;
  Syntax syntax = Syntax::kText;
  const char* key = "";  // field of the reply; "": filled in elsewhere
  std::string_view help;
  std::uint64_t divisor = 1;
  std::span<const std::string_view> words = {};
};

// Returns the object that shows a field of a list of counters.
template <typename Field>
constexpr MibObject counter(std::uint32_t number, std::string_view name, const Field& field) {
  return {number, name, Syntax::kCounter, field.name, field.help};
}

struct MibTable {
  std::uint32_t number;     // sub-identifier below satrelayObjects; the entry has sub-identifier 1
  std::string_view prefix;  // prefix of the names of columns: "satrelayPort"
  std::span<const MibObject> columns;
  // Further columns, from the reply's object `counters_in`.
  std::span<const MibObject> counters = {};
  const char* counters_in = "";  // "": the counters are in the entry itself
};

// Sub-identifiers below mib_root(), which is below the enterprise number. The number is in
// SATRELAY-MIB.txt only, and meson.build reads it there.
inline constexpr std::uint32_t kNotifications = 0;
inline constexpr std::uint32_t kObjects = 1;
inline constexpr std::uint32_t kAlarmRaised = 1;  // below kNotifications
inline constexpr std::uint32_t kAlarmCleared = 2;
inline constexpr std::uint32_t kEventTold = 3;

inline constexpr std::uint32_t kGatewayGroup = 1;  // scalars, below kObjects
inline constexpr std::uint32_t kEventGroup = 7;    // objects of notifications
inline constexpr std::uint32_t kEventAlarm = 9;    // in kEventGroup; left out if there is no alarm

extern const std::span<const MibObject> kGatewayScalars;
// Numbers of the objects in kGatewayScalars that do not show fields of the status.
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
