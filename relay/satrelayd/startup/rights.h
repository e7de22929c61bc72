// The rights of the gateway on the machine: the user that it becomes once its ports are open, the
// capabilities that it keeps, and the users of its sockets.
#pragma once

#include <optional>
#include <string>

#include "config/checks/validation.h"
#include "config/model/schema.h"
#include "relay/ops/control/socket_access.h"
#include "relay/ops/process/run_user.h"

namespace satrelay::satrelayd {

// Throws config::ConfigError if the machine lacks the group. That is an error in the configuration,
// which a new start would not remove.
ops::SocketAccess access_of(const config::Access& access);
// Lets all users enter DPDK's folders, which otherwise only the owner may enter, unless both
// sockets are private.
void open_folders_to(const ops::SocketAccess& stats, const ops::SocketAccess& control);

// The user that the gateway becomes. nullopt if it was not started by root, or if it must stay
// root. Throws config::ConfigError.
std::optional<ops::RunUser> find_run_user(const config::Gateway& config);
void warn_of_user(const config::Gateway& config, const std::optional<ops::RunUser>& user);
std::optional<config::Contradiction> object_to_user(const config::Gateway& config);

// Becomes that user, and keeps the capabilities that ports need. Returns their names.
std::string give_up_rights(const config::Gateway& config, const std::optional<ops::RunUser>& user);
// Warns of files that root could read at the start and this user cannot read at a reload.
void warn_of_reload(const config::Gateway& config, const std::string& file);

}  // namespace satrelay::satrelayd
