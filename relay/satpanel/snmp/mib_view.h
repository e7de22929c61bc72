// What SATRELAY-MIB has to say of a gateway now: a value an object identifier, in their order.
// Knows nothing of how they are asked for.
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

// Of the enterprise: everything here is below it.
Oid mib_root();
Oid operator+(Oid oid, std::uint32_t number);

struct MibValue {
  Syntax syntax = Syntax::kText;
  std::string text = {};     // of kText and kDateAndTime, the latter as its octets
  std::uint64_t number = 0;  // of all others, within what the syntax can hold
};

struct Binding {
  Oid oid;
  MibValue value;
};

// More peers are left out: what walks a table of thousands for minutes learns nothing by it.
inline constexpr std::size_t kMostShownPeers = 500;

class MibView {
 public:
  MibView() = default;
  // `name`: of the gateway.
  MibView(const metrics::Readings& readings, const std::vector<Alarm>& alarms,
          const std::string& name);

  // nullptr: there is none.
  const Binding* find(const Oid& oid) const;
  // The first one behind it.
  const Binding* next(const Oid& oid) const;
  std::span<const Binding> all() const { return bindings_; }

 private:
  std::vector<Binding> bindings_;
};

struct Notification {
  std::uint32_t which = kAlarmRaised;  // below kNotifications
  Alarm of;
};
Notification notification_of(const AlarmNotice& notice);
// Of an event that is about no alarm, with who has caused it, and with its old and new value.
Notification notification_of(const nlohmann::ordered_json& event);

// What a notification tells, behind snmpTrapOID: its objects, and the name of the gateway.
std::vector<Binding> bindings_of(const Notification& notification, const std::string& name);
Oid oid_of(const Notification& notification);

}  // namespace satrelay::panel
