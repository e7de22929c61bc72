// What the first worker does for those who look at the gateway, in its spare moments: it tells of
// itself, as each worker does, and answers what is asked of the engines of all.
#pragma once

#include "pep/base/time.h"
#include "relay/ops/stats/snapshot_board.h"
#include "relay/satrelayd/workers/engines.h"
#include "relay/satrelayd/workers/worker_pool.h"
#include "relay/satrelayd/workers/worker_report.h"

namespace satrelay::satrelayd {

class Publisher {
 public:
  // `own`: of the first worker. All must outlive the publisher.
  Publisher(const Engines& engines, WorkerPool& worker_pool, WorkerReporter& own,
            ops::SnapshotBoard& board)
      : engines_(engines), worker_pool_(worker_pool), own_(own), board_(board) {}

  // The next step of a report when that is due, and an answer, if there is a question.
  void run(Instant now);
  // When run() must be called again, so that a reader never sees an old report.
  Instant next_timeout() const { return own_.next_timeout(); }

 private:
  const Engines& engines_;
  WorkerPool& worker_pool_;
  WorkerReporter& own_;
  ops::SnapshotBoard& board_;
  Instant next_request_check_;
};

}  // namespace satrelay::satrelayd
