// Joins the reports of all workers of a gateway. This is done on the thread of the reader, so that
// it takes no time from the workers.
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
  // `workers` are the reporters of all workers, beginning with the first worker. All must outlive
  // this object.
  Reports(std::vector<WorkerReporter*> workers, std::array<const dpdk::Port*, 2> ports)
      : workers_(std::move(workers)), ports_(ports), latest_(workers_.size()) {}

  // Returns the joined reports, which are as old as the first worker's latest report. If a worker
  // hangs, its last report is used. Returns nullopt until the first worker has written a report.
  // Any thread except a worker's may call this.
  std::optional<ops::SnapshotBoard::Published> latest();

 private:
  std::shared_ptr<const ops::Snapshot> sum() const;

  std::vector<WorkerReporter*> workers_;
  std::array<const dpdk::Port*, 2> ports_;
  std::mutex mutex_;                         // locked by the readers; guards all members below
  std::vector<const WorkerReport*> latest_;  // indexed by worker; null if there is no report yet
  std::shared_ptr<const ops::Snapshot> sum_;
};

}  // namespace satrelay::satrelayd
