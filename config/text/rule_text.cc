#include "config/text/rule_text.h"

#include "config/model/words.h"

namespace satrelay::config {
namespace {

template <typename Value, typename Text>
std::string list_of(const std::vector<Value>& values, const Text& text_of) {
  std::string text;
  for (const Value& value : values) text.append(text.empty() ? "" : ",").append(text_of(value));
  return text;
}

}  // namespace

std::string criterion_of(const Match& match, std::string_view key) {
  const auto of_prefix = [](const IpPrefix& prefix) { return prefix.to_string(); };
  const auto of_number = [](auto number) { return std::to_string(number); };
  if (key == "source") return list_of(match.source, of_prefix);
  if (key == "destination") return list_of(match.destination, of_prefix);
  if (key == "port") {
    return list_of(match.port, [](const PortRange& range) {
      const std::string first = std::to_string(range.first);
      return range.first == range.last ? first : first + "-" + std::to_string(range.last);
    });
  }
  if (key == "protocol") return list_of(match.protocol, of_number);
  if (key == "vlan") {
    return list_of(match.vlan, [](std::uint16_t id) {
      return id == kUntagged ? std::string("untagged") : std::to_string(id);
    });
  }
  if (key == "dscp") return list_of(match.dscp, of_number);
  if (key == "direction") {
    return match.direction ? std::string(word_of(*match.direction)) : std::string();
  }
  return list_of(match.peer, [](const std::string& name) { return name; });
}

std::string text_of(const Match& match) {
  std::string text;
  for (const char* key :
       {"source", "destination", "port", "protocol", "vlan", "dscp", "direction", "peer"}) {
    const std::string value = criterion_of(match, key);
    if (value.empty()) continue;
    text.append(text.empty() ? "" : " ").append(key).append("=").append(value);
  }
  return text;
}

std::string summary_of(const Rule& rule) {
  const std::string match = text_of(rule.match);
  return std::string(word_of(rule.action)) + (match.empty() ? "" : " " + match);
}

}  // namespace satrelay::config
