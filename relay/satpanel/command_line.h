// The commands of a gateway's control socket for clients that speak JSON, made from their one table
// (relay/ops/control/control_grammar.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "relay/ops/control/control_grammar.h"
#include "relay/satpanel/users/users.h"

namespace satrelay::panel {

// Who may give it: who stops the gateway, or has it read its configuration, is more than who throws
// a switch.
Role role_for(const ops::ControlCommandSpec& spec);
// nullptr: there is none of that name that a client may give.
const ops::ControlCommandSpec* find_command(std::string_view name);

// What a form needs to know. `role`: of who asks.
nlohmann::ordered_json describe_commands(Role role);
// As a JSON schema of the body.
nlohmann::ordered_json schema_of(const ops::ControlCommandSpec& spec);

// The line of {"STATE": "on"} or {"RULE": "web", "SWITCH=VALUE": {"compress": "off"}}, which the
// table allows. Throws BadRequest.
std::string line_of(const ops::ControlCommandSpec& spec, const nlohmann::ordered_json& arguments);

}  // namespace satrelay::panel
