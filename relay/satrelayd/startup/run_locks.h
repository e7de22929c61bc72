// Locks on the resources that two gateways must not share: the runtime folder, the journal, and the
// kernel interfaces of the ports.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <system_error>

#include "config/model/schema.h"
#include "relay/ops/process/port_lock.h"
#include "relay/ops/process/run_lock.h"

namespace satrelay::satrelayd {

class RunLocks {
 public:
  // `has_supervisor`: a supervisor has locked the interfaces for this gateway. Throws
  // ops::AlreadyRunning, or std::system_error.
  RunLocks(const config::Gateway& config, bool has_supervisor) {
    const std::filesystem::path folder = ops::runtime_folder(config.stats_socket_prefix);
    ops::make_runtime_folder(folder);
    runtime_.emplace(folder / "lock", "stats_socket_prefix " + config.stats_socket_prefix);
    for (const config::Port* port : {&config.lan, &config.wan}) {
      if (!has_supervisor && !port->interface.empty()) interfaces_.emplace_back(port->interface);
    }
    if (config.journal == config::kNoJournal || config.journal.empty()) return;
    try {
      journal_.emplace(config.journal + ".lock", "journal " + config.journal);
    } catch (const std::system_error&) {
      // Ignore the error: the gateway will also fail to open the journal, and will log the reason.
    }
  }

 private:
  std::optional<ops::RunLock> runtime_;
  std::optional<ops::RunLock> journal_;
  std::deque<ops::PortLock> interfaces_;
};

}  // namespace satrelay::satrelayd
