#include "config/text/rule_text.h"

#include "config/model/words.h"

namespace satrelay::config {
namespace {

template <typename Value, typename Text>
void add(std::string& text, const char* key, const std::vector<Value>& values,
         const Text& text_of) {
  if (values.empty()) return;
  text.append(text.empty() ? "" : " ").append(key).append("=");
  const char* between = "";
  for (const Value& value : values) {
    text.append(between).append(text_of(value));
    between = ",";
  }
}

std::string text_of(const Match& match) {
  const auto of_prefix = [](const IpPrefix& prefix) { return prefix.to_string(); };
  const auto of_number = [](auto number) { return std::to_string(number); };
  std::string text;
  add(text, "source", match.source, of_prefix);
  add(text, "destination", match.destination, of_prefix);
  add(text, "port", match.port, [](const PortRange& range) {
    const std::string first = std::to_string(range.first);
    return range.first == range.last ? first : first + "-" + std::to_string(range.last);
  });
  add(text, "protocol", match.protocol, of_number);
  add(text, "vlan", match.vlan, [](std::uint16_t id) {
    return id == kUntagged ? std::string("untagged") : std::to_string(id);
  });
  add(text, "dscp", match.dscp, of_number);
  if (match.direction) {
    text.append(text.empty() ? "" : " ").append("direction=").append(word_of(*match.direction));
  }
  add(text, "peer", match.peer, [](const std::string& name) { return name; });
  return text;
}

std::string or_else(std::string text, const char* nothing) {
  return text.empty() ? nothing : std::move(text);
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> values_of(const Rule& rule) {
  const auto word = [](auto value) { return std::string(word_of(value)); };
  return {{"name", or_else(rule.name, "none")},
          {"match", or_else(text_of(rule.match), "any")},
          {"action", word(rule.action)},
          {"compress", word(rule.compress)},
          {"handshake", word(rule.modes.handshake)},
          {"ack", word(rule.modes.ack)},
          {"close", word(rule.modes.close)},
          {"window", word(rule.modes.window)},
          {"delivery", word(rule.modes.delivery)},
          {"ttl", word(rule.ttl)},
          {"mptcp", word(rule.mptcp)},
          {"class", or_else(rule.traffic_class, "none")}};
}

std::string summary_of(const Rule& rule) {
  const std::string match = text_of(rule.match);
  return std::string(word_of(rule.action)) + (match.empty() ? "" : " " + match);
}

}  // namespace satrelay::config
