// Who the gateway is for the machine: whom it becomes after its ports are open, what it may then
// still do, and who may use its sockets.
#pragma once

#include <optional>
#include <string>

#include "config/checks/validation.h"
#include "config/model/schema.h"
#include "relay/ops/control/socket_access.h"
#include "relay/ops/process/run_user.h"

namespace satrelay::satrelayd {

// Throws config::ConfigError: a group that the machine lacks is a mistake of the configuration, and
// to start again does not help.
ops::SocketAccess access_of(const config::Access& access);
// DPDK keeps the sockets in folders that only their owner may enter.
void open_folders_to(const ops::SocketAccess& stats, const ops::SocketAccess& control);

// Nobody if root has not started it, or is to stay: then there is nothing to change to. Throws
// config::ConfigError.
std::optional<ops::RunUser> find_run_user(const config::Gateway& config);
void warn_of_user(const config::Gateway& config, const std::optional<ops::RunUser>& user);
std::optional<config::Contradiction> object_to_user(const config::Gateway& config);

// Becomes that user, and keeps the capabilities that ports need; which, as a text.
std::string give_up_rights(const config::Gateway& config, const std::optional<ops::RunUser>& user);
// What root could read is no longer for everybody here.
void warn_of_reload(const config::Gateway& config, const std::string& file);

}  // namespace satrelay::satrelayd
