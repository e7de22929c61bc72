// The workers of a gateway, their reporters, and the rings between the workers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "relay/satrelayd/commands/capture.h"
#include "relay/satrelayd/reporting/flow_records.h"
#include "relay/satrelayd/startup/devices.h"
#include "relay/satrelayd/startup/engine_set.h"
#include "relay/satrelayd/workers/handover.h"
#include "relay/satrelayd/workers/worker.h"
#include "relay/satrelayd/workers/worker_pool.h"
#include "relay/satrelayd/workers/worker_report.h"

namespace satrelay::satrelayd {

class WorkerSet {
 public:
  // The arguments must outlive this object. `records` is nullptr if no records are wanted.
  WorkerSet(const config::Gateway& config, EngineSet& engines, Devices& devices, CaptureTap& tap,
            FlowRecords* records);

  Worker& first() { return *workers_.front(); }
  WorkerReporter& first_reporter() { return *reporters_.front(); }
  std::vector<WorkerReporter*> reporters() const;
  // The workers that have threads of their own: all except the first.
  const std::vector<WorkerPool::Member>& members() const { return members_; }
  // nullptr if there is only one worker.
  Handover* handover() { return handover_ ? &*handover_ : nullptr; }

  void round(Instant now);
  std::uint64_t records_lost() const;

 private:
  std::optional<Handover> handover_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerReporter>> reporters_;
  std::vector<WorkerPool::Member> members_;
};

}  // namespace satrelay::satrelayd
