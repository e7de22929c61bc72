#include "config/readers/read_rules.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "config/keys/kinds.h"
#include "config/model/modes.h"
#include "config/model/words.h"
#include "config/readers/read_common.h"
#include "config/text/format.h"
#include "config/text/ip_words.h"
#include "config/text/rule_text.h"

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
  const Fields fields = match_keys().fields(value);
  Match match;
  const auto each = [&](const char* key, const auto& take) {
    fields.read(key, [&](const Value& list) {
      const std::vector<Value> items = list.items_or_single();
      if (items.empty()) {
        list.fail("is empty, so nothing matches; leave it out to match everything");
      }
      for (const Value& item : items) item.attempt([&] { take(item); });
    });
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
  fields.read("direction",
              [&](const Value& direction) { match.direction = direction.word<Direction>(); });
  const auto any_of = [&](std::initializer_list<std::uint8_t> wanted) {
    return match.protocol.empty() ||
           std::ranges::find_first_of(match.protocol, wanted) != match.protocol.end();
  };
  if (const Value* port = fields.find("port");
      port != nullptr && fields.are_sound({"protocol"}) && !any_of({kProtocolTcp, kProtocolUdp})) {
    port->tell("contradicts protocol: only tcp and udp have ports, so nothing matches");
  }
  return match;
}

bool matches_tcp(const Match& match) {
  return match.protocol.empty() ||
         std::ranges::find(match.protocol, kProtocolTcp) != match.protocol.end();
}

void read_class_of(const Value& value, const std::vector<TrafficClass>* classes, Rule& rule) {
  const std::string name = value.text("write the name of a class");
  if (classes == nullptr) return;
  const auto found = std::ranges::find(*classes, name, &TrafficClass::name);
  if (found != classes->end()) {
    rule.traffic_class = name;
    return;
  }
  std::string known;
  for (const TrafficClass& each : *classes)
    known += (known.empty() ? "" : ", ") + printable(each.name);
  value.refuse("is not a class",
               known.empty() ? "there are none; describe it in classes" : "there are: " + known);
}

// A setting of a rule that is allowed only with `action: accelerate`.
template <typename Enum, typename Member>
Key<Rule> key_of_relayed(KeyText text, Member member, Enum standard) {
  const Kind<Enum> kind = word(standard);
  text.reload = Reload::kLive;
  text.allowed = kind.allowed;
  return {
      .text = std::move(text),
      .unit = "",
      .read =
          [member](const Value& value, Rule& rule) {
            if (rule.action != Action::kAccelerate) {
              std::string what = "contradicts action ";
              what += word_of(rule.action);
              what += ": it is for connections that are accelerated; remove it";
              value.fail(what);
            }
            std::invoke(member, rule) = value.word<Enum>();
          },
      .show =
          [member](const Rule& rule) { return std::string(word_of(std::invoke(member, rule))); }};
}

template <auto Mode>
auto mode = [](auto& rule) -> auto& {
  return rule.modes.*Mode;
};

void read_rule_name(const Value& value, Rule& rule) {
  rule.name = value.text("write a name");
  check_name(value, rule.name);
  if (parse_number(rule.name, 65535)) {
    value.refuse("is a number, which is how rules without a name are called",
                 "write a name with a letter");
  }
}

void check_action(const Value& action, const Rule& rule) {
  if (matches_tcp(rule.match)) return;
  if (rule.action == Action::kAccelerate) {
    action.tell("accelerate is for TCP, which protocol excludes; write bridge, or remove protocol");
  } else if (rule.action == Action::kReset) {
    action.tell("reset is for TCP, which protocol excludes; write drop");
  }
}

Rule read_rule(const Value& value, const std::vector<TrafficClass>* classes) {
  const Fields fields = rule_keys().fields(value);
  Rule rule;
  fields.read("name", [&](const Value& name) { read_rule_name(name, rule); });
  fields.read("match", [&](const Value& match) { rule.match = read_match(match); });
  rule_keys().read_required(fields, "action",
                            [&](const Value& action) { rule.action = action.word<Action>(); });
  const bool is_known = fields.are_sound({"action"});
  if (is_known && fields.are_sound({"match"})) check_action(*fields.find("action"), rule);
  // Without its action, a rule counts as one for accelerated connections, which may have each key.
  rule_keys().read(fields, rule);
  const char* const what = contradiction_in(rule.modes);
  if (what != nullptr && fields.are_sound({"handshake", "ack", "close", "window", "delivery"})) {
    fields.find("ack")->tell(what);
  }
  fields.read("class", [&](const Value& name) {
    if (is_known && (rule.action == Action::kDrop || rule.action == Action::kReset)) {
      name.fail("contradicts action " + std::string(word_of(rule.action)) +
                ": nothing is sent that could share a link; remove it");
    }
    read_class_of(name, classes, rule);
  });
  return rule;
}

// A criterion of a rule. Its text comes from rule_text.h.
Key<Match> criterion(const std::string& name, std::string help, std::string allowed) {
  return key_of_section<Match>({.name = name,
                                .reload = Reload::kLive,
                                .help = std::move(help),
                                .fallback = "everything",
                                .allowed = std::move(allowed)},
                               [name](const Match& match) { return criterion_of(match, name); });
}

}  // namespace

const Keys<Match>& match_keys() {
  static const Keys<Match> keys({
      criterion("source", "The client.", "a prefix or a list"),
      criterion("destination", "The server.", "a prefix or a list"),
      criterion("port", "The server's port, of TCP or UDP.",
                "a port, a range like 8000-8080, or a list of them"),
      criterion("protocol", "The protocol of the IP header.",
                "tcp, udp, icmp (of both versions), a number, or a list"),
      criterion("vlan", "The outermost tag.", "an id from 1 to 4094, untagged, or a list"),
      criterion("dscp", "The DSCP; for a connection, the DSCP of its SYN.",
                "0 to 63, EF, VA, LE, CS0 to CS7, AF11 to AF43, or a list"),
      criterion("direction", "Whether the client is a host of this LAN or is behind a peer.",
                "outbound or inbound"),
      criterion("peer", "The far host is in the prefixes of this peer.",
                "a name from peers, or a list"),
  });
  return keys;
}

const Keys<Rule>& rule_keys() {
  const Rule standard;
  static const Keys<Rule> keys({
      key_of_section<Rule>({.name = "name",
                            .reload = Reload::kLive,
                            .help = "The name of the rule in tables and commands.",
                            .allowed = "or a name that is not a number"},
                           [](const Rule& rule) { return rule.name.empty() ? "none" : rule.name; }),
      key_of_section<Rule>({.name = "match",
                            .reload = Reload::kLive,
                            .help = "The packets that the rule is for.",
                            .fallback = "everything",
                            .allowed = "or the criteria below"},
                           [](const Rule& rule) {
                             const std::string text = text_of(rule.match);
                             return text.empty() ? "any" : text;
                           }),
      key_of_section<Rule>({.name = "action",
                            .reload = Reload::kLive,
                            .help = "The action for the packets.",
                            .allowed = "accelerate, bridge, drop or reset",
                            .required = "write one of: " + known_words<Action>()},
                           [](const Rule& rule) { return std::string(word_of(rule.action)); }),
      key_of_relayed({.name = "compress", .help = "Whether the bytes of flows are compressed."},
                     &Rule::compress, standard.compress),
      key_of_section<Rule>({.name = "class",
                            .reload = Reload::kLive,
                            .help = "The traffic class.",
                            .allowed = "a name from classes"},
                           [](const Rule& rule) {
                             return rule.traffic_class.empty() ? "none" : rule.traffic_class;
                           }),
      key_of_relayed({.name = "handshake", .help = "When a SYN is answered."},
                     mode<&FlowModes::handshake>, standard.modes.handshake),
      key_of_relayed({.name = "ack", .help = "When data is acknowledged."}, mode<&FlowModes::ack>,
                     standard.modes.ack),
      key_of_relayed({.name = "close", .help = "When a FIN is acknowledged."},
                     mode<&FlowModes::close>, standard.modes.close),
      key_of_relayed({.name = "window", .help = "Which window is advertised to hosts."},
                     mode<&FlowModes::window>, standard.modes.window),
      key_of_relayed({.name = "delivery", .help = "Whether repairs are sent with the bytes."},
                     mode<&FlowModes::delivery>, standard.modes.delivery),
      key_of_relayed({.name = "ttl", .help = "The TTL and the DSCP of a SYN-ACK."}, &Rule::ttl,
                     standard.ttl),
      key_of_relayed({.name = "mptcp", .help = "The treatment of Multipath TCP connections."},
                     &Rule::mptcp, standard.mptcp),
  });
  return keys;
}

std::vector<Rule> read_rules(const Value& value, const std::vector<TrafficClass>* classes) {
  constexpr std::size_t kMost = 65'535;
  std::vector<Rule> rules;
  for (const Value& rule : value.items("write a list of rules, first match wins")) {
    if (rules.size() == kMost) {
      rule.tell("is one too many; a gateway has at most 65535");
      break;
    }
    Rule& read = rules.emplace_back();
    rule.attempt([&] { read = read_rule(rule, classes); });
  }
  return rules;
}

}  // namespace satrelay::config
