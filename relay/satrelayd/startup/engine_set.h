// The engines of all workers of a gateway, and the journal of their flows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/entropy.h"
#include "pep/base/stopwatch.h"
#include "relay/dpdk/loop/control_thread.h"
#include "relay/gateway/gateway.h"
#include "relay/satrelayd/reporting/journal_file.h"
#include "relay/satrelayd/startup/devices.h"
#include "relay/satrelayd/workers/engines.h"

namespace satrelay::satrelayd {

// Returns the UTC time, in nanoseconds since 1970.
std::uint64_t wall_clock();

class EngineSet {
 public:
  // `devices` must outlive this object. If the journal cannot be opened, the gateway runs without
  // it.
  EngineSet(const config::Gateway& config, Devices& devices);

  Engines& engines() { return *engines_; }
  // The identity of the last worker. The identities of all workers are equal except for `share`.
  const gateway::Identity& identity() const { return identity_; }

 private:
  std::unique_ptr<JournalFile> journal_;
  std::unique_ptr<Entropy> entropy_;
  std::unique_ptr<Stopwatch> clock_;
  gateway::Identity identity_;
  std::vector<std::unique_ptr<gateway::Gateway>> gateways_;
  std::optional<Engines> engines_;
  std::optional<dpdk::ControlThread> journal_keeper_;
};

}  // namespace satrelay::satrelayd
