// Joins the reports of all workers of a gateway, on the reader's thread: no worker waits for it, or
// does it.
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

  // Any thread but a worker's. As old as the first worker's last report. A worker that hangs
  // contributes its last report. nullopt before the first one.
  std::optional<ops::SnapshotBoard::Published> latest();

 private:
  std::shared_ptr<const ops::Snapshot> sum() const;

  std::vector<WorkerReporter*> workers_;
  std::array<const dpdk::Port*, 2> ports_;
  std::mutex mutex_;                         // for the readers; guards all below
  std::vector<const WorkerReport*> latest_;  // of each worker; null: no report yet
  std::shared_ptr<const ops::Snapshot> sum_;
};

}  // namespace satrelay::satrelayd
