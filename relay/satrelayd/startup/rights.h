// The rights of the gateway on the machine: the user to which it changes once its ports are open,
// the capabilities that it keeps, and the users that may connect to its sockets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/checks/validation.h"
#include "config/model/schema.h"
#include "relay/ops/control/socket_access.h"
#include "relay/ops/process/run_user.h"

namespace satrelay::satrelayd {

// Throws config::ConfigError if the machine does not have the group. This is an error in the
// configuration: a restart of the gateway would not help.
ops::SocketAccess access_of(const config::Access& access);
// Unless both sockets are private, lets all users enter DPDK's folders. Otherwise only the owner
// may enter them.
void open_folders_to(const ops::SocketAccess& stats, const ops::SocketAccess& control);

// Returns the user to which the gateway must change at the end of its start. Returns nullopt if the
// gateway was not started by root, or if it must stay root. Throws config::ConfigError.
std::optional<ops::RunUser> find_run_user(const config::Gateway& config);
void warn_of_user(const config::Gateway& config, const std::optional<ops::RunUser>& user);
// Returns the user and the groups of the configuration that this machine does not have.
std::vector<config::Contradiction> object_to_access(const config::Gateway& config);

// Changes to `user`, if there is one, and keeps only the capabilities that the ports need. A
// gateway with a supervisor keeps none. Returns their names.
std::string give_up_rights(const config::Gateway& config, const std::optional<ops::RunUser>& user,
                           bool has_supervisor);
// Warns of files that root could read at the start, but that the gateway's user cannot read at a
// reload.
void warn_of_reload(const config::Gateway& config, const std::string& file);

}  // namespace satrelay::satrelayd
