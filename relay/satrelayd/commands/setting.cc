#include "relay/satrelayd/commands/setting.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/model/words.h"

namespace satrelay::satrelayd {
namespace {

using ops::EventKind;

// Formats a rate, such as "12Mbit". A rate of zero becomes `zero`.
std::string rate(BitRate rate, const char* zero) {
  constexpr std::pair<std::uint64_t, const char*> kUnits[] = {
      {1'000'000'000, "Gbit"}, {1'000'000, "Mbit"}, {1'000, "kbit"}, {1, "bit"}};
  const std::uint64_t bits = rate.to_bits_per_second();
  if (bits == 0) return zero;
  const auto unit =
      std::ranges::find_if(kUnits, [&](const auto& each) { return bits % each.first == 0; });
  return std::to_string(bits / unit->first) + unit->second;
}

// Builds a text such as "weight=4 maximum=none".
class Values {
 public:
  void add(const char* key, std::string_view value) {
    text_.append(text_.empty() ? "" : " ").append(key).append("=").append(value);
  }
  // Adds the setting if the command contains it.
  template <typename Enum>
  void add(const char* key, const std::optional<Enum>& named, Enum in_force) {
    if (named) add(key, config::word_of(in_force));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::optional<Setting> in_force(const SetCapacity& command, const Engines& engines, Instant) {
  const BitRate capacity = engines[0].rates().commanded_capacity(command.link, command.way);
  return Setting{EventKind::kCapacitySet, "link " + command.link,
                 (command.way == gateway::LinkWay::kSend ? "send " : "receive ") +
                     rate(capacity, "configured")};
}

std::optional<Setting> in_force(const SetPeerRate& command, const Engines& engines, Instant) {
  return Setting{EventKind::kPeerRateSet, "peer " + command.peer,
                 rate(engines[0].rates().commanded_rate(command.peer), "configured")};
}

std::optional<Setting> in_force(const SetRule& command, const Engines& engines, Instant) {
  const config::Rule* rule = engines[0].rule(command.rule);
  if (rule == nullptr) return std::nullopt;
  const gateway::RuleChange& change = command.change;
  Values values;
  values.add("compress", change.compress, rule->compress);
  values.add("handshake", change.handshake, rule->modes.handshake);
  values.add("ack", change.ack, rule->modes.ack);
  values.add("close", change.close, rule->modes.close);
  values.add("window", change.window, rule->modes.window);
  values.add("delivery", change.delivery, rule->modes.delivery);
  values.add("ttl", change.ttl, rule->ttl);
  values.add("mptcp", change.mptcp, rule->mptcp);
  return Setting{EventKind::kRuleSet, "rule " + command.rule, std::move(values).text()};
}

std::optional<Setting> in_force(const SetClass& command, const Engines& engines, Instant) {
  const std::vector<gateway::ClassSnapshot> classes = engines.classes();
  const auto found = std::ranges::find_if(
      classes, [&](const auto& each) { return each.in_force.name == command.traffic_class; });
  if (found == classes.end()) return std::nullopt;
  const gateway::ClassChange& change = command.change;
  Values values;
  if (change.weight || change.as_configured) {
    values.add("weight", std::to_string(found->in_force.weight));
  }
  if (change.guaranteed || change.as_configured) {
    values.add("guaranteed", rate(found->in_force.guaranteed, "none"));
  }
  if (change.maximum || change.as_configured) {
    values.add("maximum", rate(found->in_force.maximum, "none"));
  }
  return Setting{EventKind::kClassSet, "class " + command.traffic_class, std::move(values).text()};
}

std::optional<Setting> in_force(const SetBypass&, const Engines& engines, Instant now) {
  const bool is_on = engines.admission(now) == gateway::Admission::kBypass;
  return Setting{EventKind::kBypassSet, "gateway", is_on ? "on" : "off"};
}

std::optional<Setting> in_force(const StartDrain&, const Engines& engines, Instant now) {
  return Setting{EventKind::kDrainBegun, "gateway", gateway::to_string(engines.admission(now))};
}

std::optional<Setting> in_force(const StartReload&, const Engines&, Instant) { return {}; }
std::optional<Setting> in_force(const ShowReload&, const Engines&, Instant) { return {}; }
std::optional<Setting> in_force(const ShowHelp&, const Engines&, Instant) { return {}; }
std::optional<Setting> in_force(const Quit&, const Engines&, Instant) { return {}; }

}  // namespace

std::optional<Setting> setting_of(const ControlCommand& command, const Engines& engines,
                                  Instant now) {
  return std::visit([&](const auto& each) { return in_force(each, engines, now); }, command);
}

}  // namespace satrelay::satrelayd
