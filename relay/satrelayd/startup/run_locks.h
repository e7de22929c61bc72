// Locks on the resources that two gateways must not share: the runtime folder, and the journal.
#pragma once

#include <filesystem>
#include <optional>
#include <system_error>

#include "config/model/schema.h"
#include "relay/ops/process/run_lock.h"

namespace satrelay::satrelayd {

class RunLocks {
 public:
  // Throws ops::AlreadyRunning, or std::system_error.
  explicit RunLocks(const config::Gateway& config) {
    const std::filesystem::path folder = ops::runtime_folder(config.stats_socket_prefix);
    ops::make_runtime_folder(folder);
    runtime_.emplace(folder / "lock", "stats_socket_prefix " + config.stats_socket_prefix);
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
};

}  // namespace satrelay::satrelayd
