#include "relay/satrelayd/control_command.h"

#include "config/ip_words.h"
#include "config/traffic_class.h"
#include "config/units.h"
#include "config/words.h"
#include "relay/ops/control_words.h"

namespace satrelay::satrelayd {
namespace {

using Words = ops::ControlWords<8>;

constexpr std::string_view kUsage = "write: capacity LINK send|receive RATE|configured";

constexpr Duration kShortestDrain = Duration::seconds(1);
constexpr Duration kLongestDrain = Duration::seconds(24 * 3600);

ControlParse fail(std::string_view what) { return {std::nullopt, std::string(what)}; }

constexpr std::string_view kRateHint = "rate: write 1kbit or more, like 12Mbit, or configured";

// Zero for the word that stands for no rate of one's own; nullopt if it is no rate.
std::optional<BitRate> parse_rate(std::string_view word, std::string_view zero = "configured") {
  if (word == zero) return BitRate();
  const auto rate = config::parse_rate(word);
  return rate && rate->to_bits_per_second() >= 1'000 ? rate : std::nullopt;
}

ControlParse parse_capacity(const Words& words) {
  if (words.count() != 4) return fail(kUsage);
  if (words[2] != "send" && words[2] != "receive") {
    return fail("unknown direction; write send or receive");
  }
  SetCapacity command{std::string(words[1]),
                      words[2] == "send" ? gateway::LinkWay::kSend : gateway::LinkWay::kReceive,
                      BitRate()};
  const auto rate = parse_rate(words[3]);
  if (!rate) return fail(kRateHint);
  command.capacity = *rate;
  return {command, ""};
}

ControlParse parse_peer_rate(const Words& words) {
  if (words.count() != 3) return fail("write: rate PEER RATE|configured");
  const auto rate = parse_rate(words[2]);
  if (!rate) return fail(kRateHint);
  return {SetPeerRate{std::string(words[1]), *rate}, ""};
}

constexpr std::string_view kSetUsage =
    "write: set RULE SWITCH=VALUE..., a switch once: compress, handshake, ack, close or window";

// What stands behind "NAME="; nullopt if it is the word of something else.
std::optional<std::string_view> value_of(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || word.substr(name.size(), 1) != "=") return std::nullopt;
  return word.substr(name.size() + 1);
}

// True if `word` is "NAME=VALUE" and not set yet; `error` if the switch has no such value.
template <typename Enum>
bool take(std::string_view word, std::string_view name, std::optional<Enum>& out,
          std::string& error) {
  const auto value = value_of(word, name);
  if (!value || out) return false;
  out = config::from_word<Enum>(*value);
  if (!out) error = std::string(name) + ": allowed: " + config::known_words<Enum>();
  return true;
}

ControlParse parse_set(const Words& words) {
  if (words.count() < 3 || words.too_many()) return fail(kSetUsage);
  SetRule command{std::string(words[1]), {}};
  gateway::RuleChange& change = command.change;
  for (std::size_t i = 2; i < words.count(); ++i) {
    std::string error;
    const bool known = take(words[i], "compress", change.compress, error) ||
                       take(words[i], "handshake", change.handshake, error) ||
                       take(words[i], "ack", change.ack, error) ||
                       take(words[i], "close", change.close, error) ||
                       take(words[i], "window", change.window, error);
    if (!error.empty()) return fail(error);
    if (!known) return fail(kSetUsage);
  }
  return {command, ""};
}

constexpr std::string_view kClassUsage =
    "write: class NAME configured, or class NAME KEY=VALUE..., a key once: weight, guaranteed or "
    "maximum";

bool take_rate(std::string_view word, std::string_view name, std::optional<BitRate>& out,
               std::string& error) {
  const auto value = value_of(word, name);
  if (!value || out) return false;
  out = parse_rate(*value, "none");
  if (!out) error = std::string(name) + ": write 1kbit or more, like 2Mbit, or none";
  return true;
}

bool take_weight(std::string_view word, std::optional<std::uint8_t>& out, std::string& error) {
  const auto value = value_of(word, "weight");
  if (!value || out) return false;
  const auto weight = config::parse_number(*value, 255);
  if (weight.value_or(0) == 0) {
    error = "weight: write 1 to 255";
  } else {
    out = static_cast<std::uint8_t>(*weight);
  }
  return true;
}

ControlParse parse_class(const Words& words) {
  if (words.count() < 3 || words.too_many()) return fail(kClassUsage);
  SetClass command{std::string(words[1]), {}};
  gateway::ClassChange& change = command.change;
  if (words.count() == 3 && words[2] == "configured") {
    change.as_configured = true;
    return {command, ""};
  }
  for (std::size_t i = 2; i < words.count(); ++i) {
    std::string error;
    const bool known = take_weight(words[i], change.weight, error) ||
                       take_rate(words[i], "guaranteed", change.guaranteed, error) ||
                       take_rate(words[i], "maximum", change.maximum, error);
    if (!error.empty()) return fail(error);
    if (!known) return fail(kClassUsage);
  }
  return {command, ""};
}

ControlParse parse_bypass(const Words& words) {
  if (words.count() != 2 || (words[1] != "on" && words[1] != "off")) {
    return fail("write: bypass on|off");
  }
  return {SetBypass{words[1] == "on" ? gateway::Admission::kBypass : gateway::Admission::kOpen},
          ""};
}

ControlParse parse_drain(const Words& words) {
  if (words.count() == 1) return {StartDrain{Duration::infinite()}, ""};
  const auto timeout = words.count() == 2 ? config::parse_duration(words[1]) : std::nullopt;
  if (!timeout || *timeout < kShortestDrain || *timeout > kLongestDrain) {
    return fail("write: drain, or drain TIMEOUT with 1s to 24h");
  }
  return {StartDrain{*timeout}, ""};
}

}  // namespace

const char* const kControlHelp =
    "capacity LINK send|receive RATE|configured    what the link carries from now on: 12Mbit\n"
    "rate PEER RATE|configured                     most that is sent to a peer from now on: "
    "12Mbit\n"
    "set RULE SWITCH=VALUE...                      functions of a rule: compress=off "
    "window=mirror\n"
    "class NAME configured|KEY=VALUE...            the part of a class: weight=4 guaranteed=2Mbit "
    "maximum=none\n"
    "bypass on|off                                 new flows are bridged; the others go on\n"
    "drain [TIMEOUT]                               the same, and stops behind the last flow\n"
    "reload                                        reads the configuration anew\n"
    "reload result                                  what came of that: ok, reading or an error\n"
    "help                                          this list\n"
    "quit                                          end this connection (the gateway runs on)\n";

ControlParse parse_control_command(std::string_view line) {
  const Words words(line);
  if (words.count() == 0) return fail("empty line; write help for a list");
  if (words.count() == 1 && words[0] == "help") return {ShowHelp{}, ""};
  if (words.count() == 1 && words[0] == "quit") return {Quit{}, ""};
  if (words.count() == 1 && words[0] == "reload") return {StartReload{}, ""};
  if (words.count() == 2 && words[0] == "reload" && words[1] == "result") {
    return {ShowReload{}, ""};
  }
  if (words[0] == "capacity") return parse_capacity(words);
  if (words[0] == "rate") return parse_peer_rate(words);
  if (words[0] == "set") return parse_set(words);
  if (words[0] == "class") return parse_class(words);
  if (words[0] == "bypass") return parse_bypass(words);
  if (words[0] == "drain") return parse_drain(words);
  return fail("unknown command; write help for a list");
}

std::string apply(const SetPeerRate& command, gateway::Gateway& gateway, Instant now) {
  if (gateway.set_peer_rate(command.peer, command.most, now)) return "ok\n";
  return "error: no such peer; write the name of one, see satrelayctl peers\n";
}

std::string apply(const SetRule& command, gateway::Gateway& gateway) {
  using Result = gateway::Gateway::SetResult;
  switch (gateway.set_rule(command.rule, command.change)) {
    case Result::kSet:
      return "ok\n";
    case Result::kUnknownRule:
      return "error: no such rule; write its number or its name, see satrelayctl rules\n";
    case Result::kNotAccelerated:
      return "error: the rule does not accelerate, so it has no functions to set\n";
    case Result::kContradiction:
      break;
  }
  return "error: ack=end-to-end needs handshake=remote; otherwise the host sends everything again "
         "before an acknowledgment can be there\n";
}

std::string apply(const SetClass& command, gateway::Gateway& gateway, Instant now) {
  using Result = gateway::Gateway::ClassResult;
  switch (gateway.set_class(command.traffic_class, command.change, now)) {
    case Result::kSet:
      return "ok\n";
    case Result::kUnknownClass:
      return "error: no such class; write a name under classes: in the configuration; relayed and "
             "bridged cannot be set\n";
    case Result::kContradiction:
      return "error: maximum would be less than guaranteed; set both, or maximum=none\n";
    case Result::kAboveLink:
      break;
  }
  return "error: all classes together would be guaranteed more than " +
         std::to_string(config::kMostGuaranteedPercent) +
         "% of a link, whose bridged_share counts too; guarantee less\n";
}

std::string apply(const SetBypass& command, gateway::Gateway& gateway, Instant now) {
  if (gateway.status(now).admission == gateway::Admission::kDraining) {
    return "error: the gateway drains already, and will stop\n";
  }
  gateway.set_admission(command.admission, now);
  return "ok\n";
}

std::string apply(const SetCapacity& command, gateway::Gateway& gateway, Instant now) {
  using Result = gateway::Gateway::CapacityResult;
  switch (gateway.set_capacity(command.link, command.way, command.capacity, now)) {
    case Result::kSet:
      return "ok\n";
    case Result::kUnknownLink:
      return "error: no such link; write a name under links: in the configuration\n";
    case Result::kUnusedLink:
      return "error: no peer uses this link, so there is nothing to change; write the link of a "
             "peer\n";
    case Result::kAboveConfigured:
      break;
  }
  return std::string("error: more than ") +
         (command.way == gateway::LinkWay::kSend ? "send_rate" : "receive_rate") +
         " of the link; configure the most that it can carry\n";
}

}  // namespace satrelay::satrelayd
