// Hangs what the gateway and its ports tell about themselves on the board of the stats socket, on
// the first worker's thread and in its spare moments: of all workers together.
#pragma once

#include <array>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/port.h"
#include "relay/ops/snapshot_board.h"
#include "relay/satrelayd/crew.h"
#include "relay/satrelayd/engines.h"
#include "relay/satrelayd/worker_report.h"

namespace satrelay::satrelayd {

class Publisher {
 public:
  // `workers`: of all, the first one's first. All must outlive the publisher.
  Publisher(const Engines& engines, Crew& crew, std::vector<const WorkerReporter*> workers,
            std::array<const dpdk::Port*, 2> ports, ops::SnapshotBoard& board);

  // Publishes when that is due and answers a request for flows, if there is one.
  void run(Instant now);
  // When run() must be called again, so that a reader never sees an old board.
  Instant next_timeout() const { return next_; }

 private:
  ops::Snapshot snapshot(Instant now) const;

  const Engines& engines_;
  Crew& crew_;
  std::vector<const WorkerReporter*> workers_;
  std::array<const dpdk::Port*, 2> ports_;
  ops::SnapshotBoard& board_;
  Instant next_;
  Instant next_request_check_;
};

}  // namespace satrelay::satrelayd
