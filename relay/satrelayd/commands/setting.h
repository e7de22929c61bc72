// The setting that a command of the control socket changes. It is read before and after the
// command, so that the event about the command can show the old and the new value.
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
  // The present value, in the format of the configuration. For a rule or a class, it has only the
  // settings that the command contains.
  std::string value;
};

// Returns nullopt if the command sets nothing, or if its rule or class does not exist.
std::optional<Setting> setting_of(const ControlCommand& command, const Engines& engines,
                                  Instant now);

}  // namespace satrelay::satrelayd
