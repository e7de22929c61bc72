#include "relay/satrelayd/commands/control_command.h"

#include "config/model/traffic_class.h"
#include "config/model/words.h"
#include "relay/ops/control/control_grammar.h"

namespace satrelay::satrelayd {
namespace {

using ops::ControlLine;
using ops::ControlVerb;

// Returns the value of a setting if the line has it. The parser has already refused words that name
// no enumerator.
template <typename Enum>
std::optional<Enum> word_of(const ControlLine& line, ops::RuleSetting setting) {
  const auto& value = line[setting];
  return value ? config::from_word<Enum>(value->text) : std::nullopt;
}

std::optional<BitRate> rate_of(const ControlLine& line, ops::ClassSetting setting) {
  const auto& value = line[setting];
  return value ? std::optional(value->rate) : std::nullopt;
}

SetRule set_rule(const ControlLine& line) {
  return {.rule = std::string(line.arguments[0].text),
          .change = {
              .compress = word_of<config::Compress>(line, ops::RuleSetting::kCompress),
              .handshake = word_of<config::HandshakeMode>(line, ops::RuleSetting::kHandshake),
              .ack = word_of<config::AckMode>(line, ops::RuleSetting::kAck),
              .close = word_of<config::CloseMode>(line, ops::RuleSetting::kClose),
              .window = word_of<config::WindowMode>(line, ops::RuleSetting::kWindow),
              .delivery = word_of<config::DeliveryMode>(line, ops::RuleSetting::kDelivery),
              .ttl = word_of<config::TtlMode>(line, ops::RuleSetting::kTtl),
              .mptcp = word_of<config::MptcpMode>(line, ops::RuleSetting::kMptcp),
          }};
}

SetClass set_class(const ControlLine& line) {
  SetClass command{.traffic_class = std::string(line.arguments[0].text), .change = {}};
  command.change.as_configured = line.arguments[1].is_instead;
  if (const auto& weight = line[ops::ClassSetting::kWeight]) {
    command.change.weight = static_cast<std::uint8_t>(weight->number);
  }
  command.change.guaranteed = rate_of(line, ops::ClassSetting::kGuaranteed);
  command.change.maximum = rate_of(line, ops::ClassSetting::kMaximum);
  return command;
}

ControlCommand command_of(const ControlLine& line) {
  const auto& arguments = line.arguments;
  switch (line.command->verb) {
    case ControlVerb::kCapacity:
      return SetCapacity{
          std::string(arguments[0].text),
          arguments[1].choice == 0 ? gateway::LinkWay::kSend : gateway::LinkWay::kReceive,
          arguments[2].rate};
    case ControlVerb::kRate:
      return SetPeerRate{std::string(arguments[0].text), arguments[1].rate};
    case ControlVerb::kSet:
      return set_rule(line);
    case ControlVerb::kClass:
      return set_class(line);
    case ControlVerb::kBypass:
      return SetBypass{arguments[0].choice == 0 ? gateway::Admission::kBypass
                                                : gateway::Admission::kOpen};
    case ControlVerb::kDrain:
      return StartDrain{arguments[0].duration};
    case ControlVerb::kReload:
      return StartReload{};
    case ControlVerb::kReloadResult:
      return ShowReload{};
    case ControlVerb::kHelp:
      return ShowHelp{};
    case ControlVerb::kQuit:
      break;
  }
  return Quit{};
}

}  // namespace

ControlParse parse_control_command(std::string_view text) {
  const ops::ControlLineParse parse = ops::parse_control_line(text);
  if (!parse.line) return {std::nullopt, parse.error};
  return {command_of(*parse.line), "", parse.line->command->right,
          std::string(parse.line->on_behalf_of)};
}

std::string apply(const SetPeerRate& command, Engines& engines, Instant now) {
  if (engines.set_peer_rate(command.peer, command.most, now)) return "ok\n";
  return "error: no such peer; write the name of a peer, see satrelayctl peers\n";
}

std::string apply(const SetRule& command, Engines& engines) {
  using Result = gateway::Gateway::SetResult;
  switch (engines.set_rule(command.rule, command.change)) {
    case Result::kSet:
      return "ok\n";
    case Result::kUnknownRule:
      return "error: no such rule; write its number or its name, see satrelayctl rules\n";
    case Result::kNotAccelerated:
      return "error: the rule does not accelerate, so it has no functions to set\n";
    case Result::kContradiction:
      break;
  }
  return "error: ack=end-to-end needs handshake=remote; otherwise the host retransmits everything "
         "before an acknowledgment can arrive\n";
}

std::string apply(const SetClass& command, Engines& engines, Instant now) {
  using Result = gateway::Gateway::ClassResult;
  switch (engines.set_class(command.traffic_class, command.change, now)) {
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
  return "error: the guarantees of all classes together would exceed " +
         std::to_string(config::kMostGuaranteedPercent) +
         "% of a link, its bridged_share included; guarantee less\n";
}

std::string apply(const SetBypass& command, Engines& engines, Instant now) {
  if (engines.admission(now) == gateway::Admission::kDraining) {
    return "error: the gateway is draining, and will stop\n";
  }
  engines.set_admission(command.admission, now);
  return "ok\n";
}

std::string apply(const SetCapacity& command, Engines& engines, Instant now) {
  using Result = gateway::Gateway::CapacityResult;
  switch (engines.set_capacity(command.link, command.way, command.capacity, now)) {
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
  return std::string("error: the rate exceeds ") +
         (command.way == gateway::LinkWay::kSend ? "send_rate" : "receive_rate") +
         " of the link; configure the highest rate that it can carry\n";
}

}  // namespace satrelay::satrelayd
