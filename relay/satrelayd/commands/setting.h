// The setting that a command of the control socket changes, for the event about it. Read before and
// after the command, it gives the old value and the new one.
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
  // In force now, in the form of the configuration. For a rule or class, only the settings that the
  // command names.
  std::string value;
};

// nullopt: the command sets nothing, or its object does not exist.
std::optional<Setting> setting_of(const ControlCommand& command, const Engines& engines,
                                  Instant now);

}  // namespace satrelay::satrelayd
