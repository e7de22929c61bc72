#include "relay/satrelayd/startup/rights.h"

#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <vector>

#include "config/text/error.h"
#include "relay/dpdk/device/capabilities.h"
#include "relay/dpdk/device/eal.h"
#include "relay/ops/log/log.h"

namespace satrelay::satrelayd {
namespace {

// Returns the capabilities that the gateway must keep: CAP_NET_ADMIN to close an af_xdp port, which
// a supervisor does in its place.
std::vector<int> needed_by(const config::Gateway& config, bool has_supervisor) {
  const auto is_xdp = [](const config::Port& port) {
    return port.driver == config::Driver::kAfXdp;
  };
  if (!has_supervisor && (is_xdp(config.lan) || is_xdp(config.wan))) return {CAP_NET_ADMIN};
  return {};
}

// Memory that a PCI device accesses is locked, also memory that DPDK adds later. The limit holds
// where CAP_IPC_LOCK does not.
void allow_locked_memory(const config::Gateway& config) {
  if (config.lan.driver != config::Driver::kPci && config.wan.driver != config::Driver::kPci)
    return;
  const rlimit none{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  if (::setrlimit(RLIMIT_MEMLOCK, &none) != 0) {
    ops::log_warning(std::string("the limit of locked memory stays: ") + std::strerror(errno) +
                     "; set LimitMEMLOCK=infinity, or ulimit -l unlimited");
  }
}

}  // namespace

ops::SocketAccess access_of(const config::Access& access) {
  try {
    return ops::resolve(access.group, access.mode);
  } catch (const std::runtime_error& error) {
    throw config::ConfigError(error.what());
  }
}

void open_folders_to(const ops::SocketAccess& stats, const ops::SocketAccess& control) {
  if (stats.is_private() && control.is_private()) return;
  const std::filesystem::path folder = dpdk::Eal::runtime_directory();
  for (const auto& each : {folder, folder.parent_path()}) {
    std::filesystem::permissions(each, std::filesystem::perms(0755));
  }
}

std::optional<ops::RunUser> find_run_user(const config::Gateway& config) {
  if (::geteuid() != 0) return std::nullopt;
  auto user = ops::find_user(config.user.empty() ? config::kGatewayUser : config.user);
  if (!user && config.user.empty()) user = ops::find_user(config::kNobody);
  if (!user) throw config::ConfigError(ops::no_such_user(config::kGatewayUser));
  if (user->user == 0) return std::nullopt;
  return user;
}

void warn_of_user(const config::Gateway& config, const std::optional<ops::RunUser>& user) {
  if (user && config.user.empty() && user->name != config::kGatewayUser) {
    ops::log_warning("runs as " + user->name + ", a user that other programs may have too: " +
                     ops::no_such_user(config::kGatewayUser));
  } else if (!user && ::geteuid() == 0) {
    ops::log_warning(
        "access.user is root: an attacker that breaks into the gateway can read root's files");
  } else if (!user && !config.user.empty()) {
    ops::log_warning("access.user has no effect: only root can become another user");
  }
}

std::vector<config::Contradiction> object_to_access(const config::Gateway& config) {
  std::vector<config::Contradiction> objections;
  if (!config.user.empty() && !ops::find_user(config.user)) {
    objections.push_back({"access.user", ops::no_such_user(config.user)});
  }
  const auto look_at = [&](const char* path, const config::Access& access) {
    try {
      access_of(access);
    } catch (const config::ConfigError& error) {
      objections.push_back({path, error.what()});
    }
  };
  look_at("access.stats.group", config.stats_access);
  look_at("access.control.group", config.control_access);
  return objections;
}

std::string give_up_rights(const config::Gateway& config, const std::optional<ops::RunUser>& user,
                           bool has_supervisor) {
  allow_locked_memory(config);
  const std::vector<int> needed = needed_by(config, has_supervisor);
  if (!user) return dpdk::keep_only(needed);
  return dpdk::keep_only(
      needed, dpdk::Identity{.user = user->user, .group = user->group, .groups = user->groups});
}

void warn_of_reload(const config::Gateway& config, const std::string& file) {
  std::set<std::string> files{file};
  for (const config::Peer& peer : config.peers) {
    if (!peer.security.psk_file.empty()) files.insert(peer.security.psk_file);
  }
  for (const std::string& each : files) {
    if (::access(each.c_str(), R_OK) == 0) continue;
    ops::log_warning(each + " can no longer be read (" + std::strerror(errno) +
                     "), so that a reload will be refused; let the group of the gateway's user "
                     "read it: chgrp, chmod 0640");
  }
}

}  // namespace satrelay::satrelayd
