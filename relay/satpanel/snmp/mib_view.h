// The current values of SATRELAY-MIB for a gateway, sorted by object identifier. The view is
// independent of the protocol by which managers request the values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "relay/metrics/readings.h"
#include "relay/satpanel/alarms/alarm_book.h"
#include "relay/satpanel/snmp/mib.h"

namespace satrelay::panel {

using Oid = std::vector<unsigned long>;

// The object identifier of the MIB's root.
Oid mib_root();
Oid operator+(Oid oid, std::uint32_t number);

struct MibValue {
  Syntax syntax = Syntax::kText;
  std::string text = {};     // value of kText, or octets of kDateAndTime
  std::uint64_t number = 0;  // value of all other syntaxes, within their ranges
};

struct Binding {
  Oid oid;
  MibValue value;
};

// The largest number of peers in the table. A manager would need minutes to walk a table of
// thousands of rows, which would be of no use.
inline constexpr std::size_t kMostShownPeers = 500;

class MibView {
 public:
  MibView() = default;
  // `name` is the gateway's name.
  MibView(const metrics::Readings& readings, const std::vector<Alarm>& alarms,
          const std::string& name);

  // Returns nullptr if no binding has this identifier.
  const Binding* find(const Oid& oid) const;
  // Returns the first binding after `oid`, or nullptr if there is none.
  const Binding* next(const Oid& oid) const;
  std::span<const Binding> all() const { return bindings_; }

 private:
  std::vector<Binding> bindings_;
};

struct Notification {
  std::uint32_t which = kAlarmRaised;  // sub-identifier below kNotifications
  Alarm of;
};
Notification notification_of(const AlarmNotice& notice);
// Returns the notification of an event without an alarm. Its detail includes the user that caused
// the event, and the old and the new value.
Notification notification_of(const nlohmann::ordered_json& event);

// Returns the bindings that follow snmpTrapOID in a notification: the notification's objects, and
// the gateway's name.
std::vector<Binding> bindings_of(const Notification& notification, const std::string& name);
Oid oid_of(const Notification& notification);

}  // namespace satrelay::panel
