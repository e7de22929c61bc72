// Hangs what the gateway and its ports tell about themselves on the board of the stats socket, on
// the worker's own thread and in its spare moments.
#pragma once

#include <array>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/port.h"
#include "relay/gateway/gateway.h"
#include "relay/ops/snapshot_board.h"
#include "relay/satrelayd/worker.h"

namespace satrelay::satrelayd {

class Publisher {
 public:
  // All must outlive the publisher.
  Publisher(const gateway::Gateway& gateway, std::array<const dpdk::Port*, 2> ports,
            const Worker& worker, ops::SnapshotBoard& board);

  // Publishes when that is due and answers a request for flows, if there is one.
  void run(Instant now);
  // When run() must be called again, so that a reader never sees an old board.
  Instant next_timeout() const { return next_; }

 private:
  const gateway::Gateway& gateway_;
  std::array<const dpdk::Port*, 2> ports_;
  const Worker& worker_;
  ops::SnapshotBoard& board_;
  Instant next_;
  Instant next_request_check_;
};

}  // namespace satrelay::satrelayd
