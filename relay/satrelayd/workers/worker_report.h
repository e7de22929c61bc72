// What one worker tells of itself ten times a second, for who puts together what all tell.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "pep/base/histogram.h"
#include "pep/base/time.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/gateway/gateway.h"
#include "relay/ops/stats/latest_value.h"
#include "relay/satrelayd/workers/worker.h"

namespace satrelay::satrelayd {

struct WorkerReport {
  Instant at;  // when it was complete
  gateway::Status status;
  std::vector<gateway::PeerSnapshot> peers;  // lanes of a peer joined
  std::vector<gateway::LinkSnapshot> links;
  gateway::Counters counters;
  std::array<dpdk::PortStats, 2> ports;  // of its queues; of the first worker, of the devices, too
  ops::WorkerCounters team;
  Histogram rounds{ops::kWorkerRound.bounds};
  std::vector<gateway::HistogramSnapshot> histograms;  // of its engine
};

// Makes such reports in steps, as no frame shall wait for all of one: each round a few lanes are
// told. The last few, and all that is not of a peer, are of one instant.
class WorkerReporter {
 public:
  static constexpr Duration kInterval = Duration::milliseconds(100);
  static constexpr std::size_t kLanesPerStep = 16;

  // All must outlive it. `index`: of the worker.
  WorkerReporter(const gateway::Gateway& engine, const Worker& worker,
                 std::array<const dpdk::Port*, 2> ports, unsigned index)
      : engine_(engine), worker_(worker), ports_(ports), index_(index) {}

  // --- the worker's thread ----------------------------------------------------------------------
  // The next step of a report, if one is due or under way.
  void run(Instant now);
  // Past while a report is under way: the next round follows at once.
  Instant next_timeout() const { return next_; }

  // --- any other thread, one at a time ----------------------------------------------------------
  // As ops::LatestValue::take().
  const WorkerReport* take() { return reports_.take(); }

 private:
  void complete(WorkerReport& report, Instant now) const;

  const gateway::Gateway& engine_;
  const Worker& worker_;
  std::array<const dpdk::Port*, 2> ports_;
  unsigned index_;
  Instant next_;
  std::size_t told_lanes_ = 0;  // of the report that is under way
  ops::LatestValue<WorkerReport> reports_;
};

}  // namespace satrelay::satrelayd
