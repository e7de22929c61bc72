// Offers the commands of a gateway's control socket to clients that speak JSON. The commands come
// from the table in relay/ops/control/control_grammar.h.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "relay/ops/control/control_grammar.h"
#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

// Returns the lowest role that may give the command. Only administrators may stop the gateway or
// reload its configuration. Operators may give all other commands.
Role role_for(const ops::ControlCommandSpec& spec);
// Returns nullptr if there is no command with this name, or if no client of the panel may give it.
const ops::ControlCommandSpec* find_command(std::string_view name);

// Describes the commands of the panel, for the forms of the pages. The field "allowed" says whether
// `role` may give the command.
nlohmann::ordered_json describe_commands(Role role);
// Returns the JSON schema of the command's request body.
nlohmann::ordered_json schema_of(const ops::ControlCommandSpec& spec);

// Returns the line for the control socket. The arguments are like {"STATE": "on"} or {"RULE":
// "web", "SWITCH=VALUE": {"compress": "off"}}. Throws BadRequest if the table does not allow them.
std::string line_of(const ops::ControlCommandSpec& spec, const nlohmann::ordered_json& arguments);

}  // namespace satrelay::panel
