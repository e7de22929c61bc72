#include "relay/satrelayd/control_command.h"

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

// Zero for "configured"; nullopt if it is no rate.
std::optional<BitRate> parse_rate(std::string_view word) {
  if (word == "configured") return BitRate();
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

// True if `word` is "NAME=VALUE" with a value that the switch has, and not set yet.
template <typename Enum>
bool take(std::string_view word, std::string_view name, std::optional<Enum>& out,
          std::string& error) {
  if (!word.starts_with(name) || word.substr(name.size(), 1) != "=" || out) return false;
  out = config::from_word<Enum>(word.substr(name.size() + 1));
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
