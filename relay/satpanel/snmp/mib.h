// The objects of SATRELAY-MIB (deploy/snmp/SATRELAY-MIB.txt), each listed once with its number, its
// syntax, and the field of a gateway's reply that it shows. mib_test compares the list with the
// file.
//
// All counters are Counter64, as RFC 3635 requires for bytes, frames and packets of fast links.
// Values that may fall are Gauge32, in units so large that the values stay below the maximum:
// kbit/s, KiB. The number of a removed object is never used for another object.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "pep/base/counter_fields.h"

namespace satrelay::panel {

enum class Syntax : std::uint8_t {
  kText,         // SatrelayText
  kInteger,      // an enumeration: 1 means other, 2 the first of `words`, 3 the second, ...
  kGauge,        // Gauge32; a larger value is shown as the maximum
  kCounter,      // Counter64
  kTicks,        // TimeTicks, from milliseconds
  kDateAndTime,  // UTC, from milliseconds since 1970
};

struct MibObject {
  std::uint32_t number = 0;
  std::string_view name;
  Syntax syntax = Syntax::kText;
  const char* key = "";  // name of the field in the reply; "" if the value comes from elsewhere
  std::string_view help;
  std::uint64_t divisor = 1;
  std::span<const std::string_view> words = {};
};

// Returns the object that shows a field of a counter list.
template <typename Field>
constexpr MibObject counter(std::uint32_t number, std::string_view name, const Field& field) {
  return {number, name, Syntax::kCounter, field.name, field.help};
}

struct MibTable {
  std::uint32_t number;     // sub-identifier below satrelayObjects; the entry has sub-identifier 1
  std::string_view prefix;  // prefix of the column names, such as "satrelayPort"
  std::span<const MibObject> columns;
  // More columns. The reply's object `counters_in` has their values.
  std::span<const MibObject> counters = {};
  const char* counters_in = "";  // "" means that the entry itself has the values
};

// Sub-identifiers below mib_root(). mib_root() is below the enterprise number, which is only in
// SATRELAY-MIB.txt; meson.build reads it from there.
inline constexpr std::uint32_t kNotifications = 0;
inline constexpr std::uint32_t kObjects = 1;
inline constexpr std::uint32_t kAlarmRaised = 1;  // below kNotifications
inline constexpr std::uint32_t kAlarmCleared = 2;
inline constexpr std::uint32_t kEventTold = 3;

inline constexpr std::uint32_t kGatewayGroup = 1;  // scalars, below kObjects
inline constexpr std::uint32_t kEventGroup = 7;    // objects of notifications
inline constexpr std::uint32_t kEventAlarm = 9;    // in kEventGroup; left out if there is no alarm

extern const std::span<const MibObject> kGatewayScalars;
// Numbers of the objects in kGatewayScalars that are not fields of the status reply.
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
