// Joins the reports of all workers of a gateway. The reader's thread does this, so that it costs
// the workers no time.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/device/port.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/satrelayd/workers/worker_report.h"

namespace satrelay::satrelayd {

class Reports {
 public:
  // `workers`: the reporters of all workers, the first worker's first. All must outlive this
  // object.
  Reports(std::vector<WorkerReporter*> workers, std::array<const dpdk::Port*, 2> ports)
      : workers_(std::move(workers)), ports_(ports), latest_(workers_.size()) {}

  // Returns the joined reports, which are as old as the first worker's last report. A worker that
  // hangs contributes its last report. nullopt until the first worker has made a report. Any thread
  // except a worker's may call this.
  std::optional<ops::SnapshotBoard::Published> latest();

 private:
  std::shared_ptr<const ops::Snapshot> sum() const;

  std::vector<WorkerReporter*> workers_;
  std::array<const dpdk::Port*, 2> ports_;
  std::mutex mutex_;                         // for the readers; guards all below
  std::vector<const WorkerReport*> latest_;  // by worker; null: no report yet
  std::shared_ptr<const ops::Snapshot> sum_;
};

}  // namespace satrelay::satrelayd
