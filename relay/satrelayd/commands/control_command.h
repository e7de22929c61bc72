// The commands of the gateway's control socket, as values. Their text form is described in
// relay/ops/control/control_grammar.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/gateway/gateway.h"
#include "relay/ops/control/control_grammar.h"
#include "relay/satrelayd/workers/engines.h"

namespace satrelay::satrelayd {

struct SetCapacity {
  std::string link;
  gateway::LinkWay way;
  BitRate capacity;  // zero restores the configured rate
};
struct SetPeerRate {
  std::string peer;
  BitRate most;  // zero removes the limit for the peer
};
struct SetRule {
  std::string rule;  // name or number of the rule
  gateway::RuleChange change;
};
struct SetClass {
  std::string traffic_class;
  gateway::ClassChange change;
};
struct SetBypass {
  gateway::Admission admission;  // kBypass or kOpen
};
struct StartDrain {
  Duration timeout;  // infinite means that the drain waits for all flows
};
struct StartReload {};
struct ShowReload {};  // the result of the last reload
struct ShowHelp {};
struct Quit {};

using ControlCommand = std::variant<SetCapacity, SetPeerRate, SetRule, SetClass, SetBypass,
                                    StartDrain, StartReload, ShowReload, ShowHelp, Quit>;

struct ControlParse {
  std::optional<ControlCommand> command;
  // If there is no command, this message names the mistake and shows the allowed syntax.
  std::string error;
  ops::Right right = ops::Right::kLook;
  std::string on_behalf_of = {};  // same meaning as in ops::Caller
};

// Parses a line, which may contain any bytes. Words are separated by spaces or tabs.
ControlParse parse_control_command(std::string_view text);

// Each function applies a command, and returns a line: "ok" or "error: ...".
std::string apply(const SetCapacity& command, Engines& engines, Instant now);
std::string apply(const SetPeerRate& command, Engines& engines, Instant now);
std::string apply(const SetRule& command, Engines& engines);
std::string apply(const SetClass& command, Engines& engines, Instant now);
std::string apply(const SetBypass& command, Engines& engines, Instant now);

}  // namespace satrelay::satrelayd
