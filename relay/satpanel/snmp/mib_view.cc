#include "relay/satpanel/snmp/mib_view.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "relay/client/reply.h"
#include "relay/metrics/reply_fields.h"

namespace satrelay::panel {
namespace {

using ctl::Json;
using ctl::member;

constexpr std::size_t kLongestText = 255;
constexpr std::size_t kLongestIndex = 64;

Oid object(std::uint32_t group) { return mib_root() + kObjects + group; }

// Encodes a string as a table index: its length, then its octets (RFC 2578 section 7.7).
Oid indexed_by(std::string_view name) {
  name = name.substr(0, kLongestIndex);
  Oid index{name.size()};
  for (const char c : name) index.push_back(static_cast<unsigned char>(c));
  return index;
}

MibValue text(std::string_view words) {
  return {.syntax = Syntax::kText, .text = std::string(words.substr(0, kLongestText))};
}

// Encodes a time as DateAndTime of SNMPv2-TC: year, month, day, hour, minute, second, tenths, and
// UTC.
MibValue date_and_time(std::uint64_t milliseconds) {
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm when{};
  ::gmtime_r(&seconds, &when);
  const int year = when.tm_year + 1900;
  const int octets[] = {year >> 8,    year & 0xff, when.tm_mon + 1, when.tm_mday,
                        when.tm_hour, when.tm_min, when.tm_sec,     0};
  std::string date;
  for (const int octet : octets) date += static_cast<char>(octet);
  date.back() = static_cast<char>(milliseconds / 100 % 10);
  date.append("+\0\0", 3);
  return {.syntax = Syntax::kDateAndTime, .text = std::move(date)};
}

std::uint64_t number_of_word(const MibObject& object, std::string_view word) {
  const auto found = std::ranges::find(object.words, word);
  return found == object.words.end() ? 1
                                     : static_cast<std::uint64_t>(found - object.words.begin()) + 2;
}

MibValue number(const MibObject& object, std::uint64_t value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  switch (object.syntax) {
    case Syntax::kCounter:
      break;
    case Syntax::kTicks:
      value = value / 10 % (kMost + 1);
      break;
    default:
      value = std::min(value / object.divisor, kMost);
      break;
  }
  return {.syntax = object.syntax, .number = value};
}

// Returns nullopt if the reply lacks the object's field.
std::optional<MibValue> value_in(const Json& reply, const MibObject& object) {
  if (object.syntax == Syntax::kText || object.syntax == Syntax::kInteger) {
    const auto words = metrics::word(reply, object.key);
    if (!words) return std::nullopt;
    if (object.syntax == Syntax::kText) return text(*words);
    return MibValue{.syntax = object.syntax, .number = number_of_word(object, *words)};
  }
  const auto value = ctl::number(reply, object.key);
  if (!value) return std::nullopt;
  return object.syntax == Syntax::kDateAndTime ? date_and_time(*value) : number(object, *value);
}

class Builder {
 public:
  void scalar(const MibObject& scalar, const MibValue& value) {
    bindings_.push_back({object(kGatewayGroup) + scalar.number + 0, value});
  }
  void scalars(const Json& reply) {
    for (const MibObject& each : kGatewayScalars) {
      if (const auto value = value_in(reply, each)) scalar(each, *value);
    }
  }
  void row(const MibTable& table, const Oid& index, const Json& reply) {
    cells(table, table.columns, index, reply);
    const Json& counted = *table.counters_in != '\0' ? member(reply, table.counters_in) : reply;
    cells(table, table.counters, index, counted);
  }
  std::vector<Binding> sorted() {
    std::ranges::sort(bindings_, {}, &Binding::oid);
    // If two rows have the same name, keep only the first: their object identifiers are equal.
    const auto same = [](const Binding& a, const Binding& b) { return a.oid == b.oid; };
    bindings_.erase(std::unique(bindings_.begin(), bindings_.end(), same), bindings_.end());
    return std::move(bindings_);
  }

 private:
  void cells(const MibTable& table, std::span<const MibObject> columns, const Oid& index,
             const Json& reply) {
    for (const MibObject& column : columns) {
      auto value = value_in(reply, column);
      if (!value) continue;
      Oid oid = object(table.number) + 1 + column.number;
      oid.insert(oid.end(), index.begin(), index.end());
      bindings_.push_back({std::move(oid), std::move(*value)});
    }
  }

  std::vector<Binding> bindings_;
};

bool is_alive(const Json& peer) { return metrics::word(peer, "state") == "alive"; }

// Returns a JSON object for each link, with sums and maxima over the peers of the link.
std::map<std::string, Json> links_of(const Json& peers) {
  std::map<std::string, Json> links;
  for (const Json& peer : peers) {
    const auto name = metrics::word(peer, "link");
    if (!name) continue;
    Json& link = links[std::string(*name)];
    const auto put = [&](const char* key, const auto& join, std::uint64_t value) {
      link[key] = join(ctl::number(link, key).value_or(0), value);
    };
    const auto add = [](std::uint64_t a, std::uint64_t b) { return a + b; };
    const auto worse = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
    put("peers", add, 1);
    put("alive", add, is_alive(peer) ? 1 : 0);
    for (const char* key : {"rtt_us", "loss_ppm"}) {
      put(key, worse, is_alive(peer) ? ctl::number(peer, key).value_or(0) : 0);
    }
    for (const char* key : {"streams", "packets_in_flight"}) {
      put(key, add, ctl::number(peer, key).value_or(0));
    }
  }
  return links;
}

Json reply_of(const Alarm& alarm) {
  return {{"name", alarm.name},         {"severity", alarm.severity},
          {"subject", alarm.subject},   {"text", alarm.text},
          {"detail", alarm.detail},     {"advice", alarm.advice},
          {"since_ms", alarm.since_ms}, {"told_ms", alarm.told_ms},
          {"number", alarm.number},     {"index", std::uint64_t{alarm.index}}};
}

const MibObject& scalar_of(std::uint32_t wanted) {
  return *std::ranges::find(kGatewayScalars, wanted, &MibObject::number);
}

}  // namespace

Oid mib_root() { return {1, 3, 6, 1, 4, 1, SATRELAY_ENTERPRISE, 1}; }

Oid operator+(Oid oid, std::uint32_t number) {
  oid.push_back(number);
  return oid;
}

MibView::MibView(const metrics::Readings& readings, const std::vector<Alarm>& alarms,
                 const std::string& name) {
  Builder builder;
  const auto put = [&](std::uint32_t which, std::uint64_t value) {
    builder.scalar(scalar_of(which), number(scalar_of(which), value));
  };
  const MibObject& state = scalar_of(kGatewayState);
  put(kGatewayState, number_of_word(state, readings.up ? "up" : "down"));
  builder.scalar(scalar_of(kGatewayName), text(name));
  put(kAlarms, alarms.size());
  for (const Alarm& alarm : alarms) builder.row(kAlarmTable, {alarm.index}, reply_of(alarm));
  if (readings.up) {
    builder.scalars(readings.status);
    put(kPeers, readings.peers.size());
    put(kPeersAlive, static_cast<std::uint64_t>(std::ranges::count_if(readings.peers, is_alive)));
    if (readings.ports.is_object()) {
      for (const auto& [port, reply] : readings.ports.items()) {
        builder.row(kPortTable, indexed_by(port), reply);
      }
    }
    std::size_t shown = 0;
    for (const Json& peer : readings.peers) {
      const auto peer_name = metrics::word(peer, "name");
      if (!peer_name || ++shown > kMostShownPeers) continue;
      builder.row(kPeerTable, indexed_by(*peer_name), peer);
    }
    for (const auto& [link, reply] : links_of(readings.peers)) {
      builder.row(kLinkTable, indexed_by(link), reply);
    }
    for (const Json& each : readings.classes) {
      if (const auto class_name = metrics::word(each, "name")) {
        builder.row(kClassTable, indexed_by(*class_name), each);
      }
    }
  }
  bindings_ = builder.sorted();
}

const Binding* MibView::find(const Oid& oid) const {
  const auto found = std::ranges::lower_bound(bindings_, oid, {}, &Binding::oid);
  return found != bindings_.end() && found->oid == oid ? &*found : nullptr;
}

const Binding* MibView::next(const Oid& oid) const {
  const auto found = std::ranges::upper_bound(bindings_, oid, {}, &Binding::oid);
  return found == bindings_.end() ? nullptr : &*found;
}

Notification notification_of(const AlarmNotice& notice) {
  return {.which = notice.is_over ? kAlarmCleared : kAlarmRaised, .of = notice.alarm};
}

Notification notification_of(const Json& event) {
  Alarm told = alarm_of(event);
  const auto add = [&](const char* word, const char* field) {
    const std::string value(metrics::word(event, field).value_or(""));
    if (value.empty()) return;
    told.detail.append(told.detail.empty() ? "" : ", ").append(word).append(" ").append(value);
  };
  add("from", "old");
  add("to", "new");
  add("by", "user");
  return {.which = kEventTold, .of = std::move(told)};
}

std::vector<Binding> bindings_of(const Notification& notification, const std::string& name) {
  std::vector<Binding> bindings;
  bindings.push_back({object(kGatewayGroup) + kGatewayName + 0, text(name)});
  const Json reply = reply_of(notification.of);
  for (const MibObject& each : kEventObjects) {
    if (each.number == kEventAlarm && notification.which == kEventTold) continue;
    if (const auto value = value_in(reply, each)) {
      bindings.push_back({object(kEventGroup) + each.number + 0, *value});
    }
  }
  return bindings;
}

Oid oid_of(const Notification& notification) {
  return mib_root() + kNotifications + notification.which;
}

}  // namespace satrelay::panel
