// The setting that a command of the control socket changes. It is read before and after the
// command, so that the event about the command has the old and the new value.
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
  // The value in force, in the form of the configuration. For a rule or class, it has only the
  // settings that the command names.
  std::string value;
};

// nullopt if the command sets nothing, or if it names a rule or class that does not exist.
std::optional<Setting> setting_of(const ControlCommand& command, const Engines& engines,
                                  Instant now);

}  // namespace satrelay::satrelayd
