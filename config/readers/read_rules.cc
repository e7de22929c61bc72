#include "config/readers/read_rules.h"

#include <algorithm>
#include <string>

#include "config/model/modes.h"
#include "config/model/words.h"
#include "config/readers/read_common.h"
#include "config/text/ip_words.h"

namespace satrelay::config {
namespace {

PortRange read_port_range(const Value& value) {
  constexpr std::string_view kHint = "write a port from 1 to 65535 or a range, like 8000-8080";
  const std::string text = value.text(kHint);
  const auto parse = [&](std::string_view digits) {
    const auto port = parse_number(digits, 65535);
    if (!port || *port == 0) value.refuse("is not a port", kHint);
    return *port;
  };
  const std::string_view view = text;
  const std::size_t dash = view.find('-');
  if (dash == std::string_view::npos) {
    const std::uint16_t port = parse(view);
    return {port, port};
  }
  const PortRange range{parse(view.substr(0, dash)), parse(view.substr(dash + 1))};
  if (range.first > range.last) value.refuse("runs backwards", kHint);
  return range;
}

std::vector<std::uint8_t> read_protocol(const Value& value) {
  std::vector<std::uint8_t> numbers = parse_protocol(value.text(kProtocolHint));
  if (numbers.empty()) value.refuse("is not a protocol", kProtocolHint);
  return numbers;
}

std::uint16_t read_vlan(const Value& value) {
  const auto id = parse_vlan(value.text(kVlanHint));
  if (!id) value.refuse("is not a VLAN", kVlanHint);
  return *id;
}

std::uint8_t read_dscp(const Value& value) {
  const auto dscp = parse_dscp(value.text(kDscpHint));
  if (!dscp) value.refuse("is not a DSCP", kDscpHint);
  return *dscp;
}

Match read_match(const Value& value) {
  const Fields fields = value.fields(
      {"source", "destination", "port", "protocol", "vlan", "dscp", "direction", "peer"});
  Match match;
  const auto each = [&](const char* key, const auto& take) {
    const Value* list = fields.find(key);
    if (list == nullptr) return;
    const std::vector<Value> items = list->items_or_single();
    if (items.empty()) {
      list->fail("is empty, so nothing matches; leave it out to match everything");
    }
    for (const Value& item : items) take(item);
  };
  each("source", [&](const Value& v) { match.source.push_back(v.prefix()); });
  each("destination", [&](const Value& v) { match.destination.push_back(v.prefix()); });
  each("port", [&](const Value& v) { match.port.push_back(read_port_range(v)); });
  each("protocol", [&](const Value& v) {
    for (const std::uint8_t number : read_protocol(v)) match.protocol.push_back(number);
  });
  each("vlan", [&](const Value& v) { match.vlan.push_back(read_vlan(v)); });
  each("dscp", [&](const Value& v) { match.dscp.push_back(read_dscp(v)); });
  each("peer", [&](const Value& v) { match.peer.push_back(v.text("write the name of a peer")); });
  if (const Value* direction = fields.find("direction")) {
    match.direction = direction->word<Direction>();
  }
  const auto any_of = [&](std::initializer_list<std::uint8_t> wanted) {
    return match.protocol.empty() ||
           std::ranges::find_first_of(match.protocol, wanted) != match.protocol.end();
  };
  if (const Value* port = fields.find("port");
      port != nullptr && !any_of({kProtocolTcp, kProtocolUdp})) {
    port->fail("contradicts protocol: only tcp and udp have ports, so nothing matches");
  }
  return match;
}

bool matches_tcp(const Match& match) {
  return match.protocol.empty() ||
         std::ranges::find(match.protocol, kProtocolTcp) != match.protocol.end();
}

void read_class(const Value& value, const std::vector<TrafficClass>& classes, Rule& rule) {
  const std::string name = value.text("write the name of a class");
  const auto found = std::ranges::find(classes, name, &TrafficClass::name);
  if (found != classes.end()) {
    rule.traffic_class = name;
    return;
  }
  std::string known;
  for (const TrafficClass& each : classes) known += (known.empty() ? "" : ", ") + each.name;
  value.refuse("is not a class",
               known.empty() ? "there are none; describe it in classes" : "there are: " + known);
}

// What concerns relayed connections only contradicts every other action.
const Value* find_for_relayed(const Fields& fields, const char* key, Action action) {
  const Value* value = fields.find(key);
  if (value != nullptr && action != Action::kAccelerate) {
    std::string what = "contradicts action ";
    what += word_of(action);
    what += ": it is for connections that are accelerated; remove it";
    value->fail(what);
  }
  return value;
}

template <typename Enum>
void read_switch(const Fields& fields, const char* key, Action action, Enum& out) {
  if (const Value* value = find_for_relayed(fields, key, action)) out = value->word<Enum>();
}

Rule read_rule(const Value& value, const std::vector<TrafficClass>& classes) {
  const Fields fields = value.fields({"name", "match", "action", "compress", "class", "handshake",
                                      "ack", "close", "window", "delivery", "ttl", "mptcp"});
  Rule rule;
  if (const Value* name = fields.find("name")) {
    rule.name = name->text("write a name");
    check_name(*name, rule.name);
    if (parse_number(rule.name, 65535)) {
      name->refuse("is a number, which is how rules without a name are called",
                   "write a name with a letter");
    }
  }
  if (const Value* match = fields.find("match")) rule.match = read_match(*match);
  const Value& action = fields.require("action", "write one of: " + known_words<Action>());
  rule.action = action.word<Action>();
  if (!matches_tcp(rule.match) && rule.action == Action::kAccelerate) {
    action.fail("accelerate is for TCP, which protocol excludes; write bridge, or remove protocol");
  }
  if (!matches_tcp(rule.match) && rule.action == Action::kReset) {
    action.fail("reset is for TCP, which protocol excludes; write drop");
  }
  read_switch(fields, "compress", rule.action, rule.compress);
  read_switch(fields, "handshake", rule.action, rule.modes.handshake);
  read_switch(fields, "ack", rule.action, rule.modes.ack);
  read_switch(fields, "close", rule.action, rule.modes.close);
  read_switch(fields, "window", rule.action, rule.modes.window);
  read_switch(fields, "delivery", rule.action, rule.modes.delivery);
  read_switch(fields, "ttl", rule.action, rule.ttl);
  read_switch(fields, "mptcp", rule.action, rule.mptcp);
  if (const char* what = contradiction_in(rule.modes)) fields.find("ack")->fail(what);
  if (const Value* name = fields.find("class")) {
    if (rule.action == Action::kDrop || rule.action == Action::kReset) {
      name->fail("contradicts action " + std::string(word_of(rule.action)) +
                 ": nothing is sent that could share a link; remove it");
    }
    read_class(*name, classes, rule);
  }
  return rule;
}

}  // namespace

std::vector<Rule> read_rules(const Value& value, const std::vector<TrafficClass>& classes) {
  constexpr std::size_t kMost = 65'535;
  std::vector<Rule> rules;
  for (const Value& rule : value.items("write a list of rules, first match wins")) {
    if (rules.size() == kMost) rule.fail("is one too many; a gateway has at most 65535");
    rules.push_back(read_rule(rule, classes));
  }
  return rules;
}

}  // namespace satrelay::config
