// The first worker's work for clients of the stats socket. The publisher writes the report about
// the first worker, and answers queries about the engines of all workers. Each other worker writes
// its own report.
#pragma once

#include "pep/base/time.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/worker_pool.h"
#include "relay/satrelayd/workers/worker_report.h"

namespace satrelay::satrelayd {

class Publisher {
 public:
  // `own` is the reporter of the first worker. All arguments must outlive the publisher.
  Publisher(const Engines& engines, WorkerPool& worker_pool, WorkerReporter& own,
            ops::SnapshotBoard& board)
      : engines_(engines), worker_pool_(worker_pool), own_(own), board_(board) {}

  // Does the next step of a report if it is due, and answers a query if there is one.
  void run(Instant now);
  // Returns when run() must be called again, so that no reader gets an old report.
  Instant next_timeout() const { return own_.next_timeout(); }

 private:
  const Engines& engines_;
  WorkerPool& worker_pool_;
  WorkerReporter& own_;
  ops::SnapshotBoard& board_;
  Instant next_request_check_;
};

}  // namespace satrelay::satrelayd
