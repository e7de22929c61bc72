// The commands of a gateway's control socket for clients that speak JSON, from the one table of
// commands (relay/ops/control/control_grammar.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "relay/ops/control/control_grammar.h"
#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

// The role that may give the command. A command that stops the gateway, or reloads its
// configuration, takes a higher role than a switch.
Role role_for(const ops::ControlCommandSpec& spec);
// nullptr if there is no command of that name, or none that a client may give.
const ops::ControlCommandSpec* find_command(std::string_view name);

// Describes the commands, for forms. `role`: role of the client.
nlohmann::ordered_json describe_commands(Role role);
// The JSON schema of the command's request body.
nlohmann::ordered_json schema_of(const ops::ControlCommandSpec& spec);

// The control line for arguments like {"STATE": "on"} or {"RULE": "web", "SWITCH=VALUE":
// {"compress": "off"}}, if the table allows them. Throws BadRequest.
std::string line_of(const ops::ControlCommandSpec& spec, const nlohmann::ordered_json& arguments);

}  // namespace satrelay::panel
