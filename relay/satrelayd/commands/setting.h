// What a command of the control socket sets, for the event that tells of it: asked before and after
// the command, it is the old value and the new one.
#pragma once

#include <optional>
#include <string>

#include "pep/base/time.h"
#include "relay/ops/events/event.h"
#include "relay/satrelayd/commands/control_command.h"
#include "relay/satrelayd/workers/engines.h"

namespace satrelay::satrelayd {

struct Setting {
  ops::EventKind kind{};
  std::string subject;
  std::string
      value;  // in force now, as one would write it; of a rule or class what the command names
};

// nullopt: the command sets nothing, or something that is not there.
std::optional<Setting> setting_of(const ControlCommand& command, const Engines& engines,
                                  Instant now);

}  // namespace satrelay::satrelayd
