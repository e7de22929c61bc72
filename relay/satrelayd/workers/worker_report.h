// The report that a worker writes about itself ten times a second. Reports joins the reports of all
// workers.
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
  Instant at;  // time at which the report was completed
  gateway::Status status;
  std::vector<gateway::PeerSnapshot> peers;  // one entry for each peer, with all its lanes
  std::vector<gateway::LinkSnapshot> links;
  gateway::Counters counters;
  // For each port, the counters of the worker's queue. In the report of the first worker, they
  // include the counters of the device.
  std::array<dpdk::PortStats, 2> ports;
  ops::WorkerCounters team;
  Histogram rounds{ops::kWorkerRound.bounds};
  std::vector<gateway::HistogramSnapshot> histograms;  // histograms of the worker's engine
};

// Writes the reports of a worker in steps, so that no frame has to wait for a whole report. Each
// round describes a few lanes. The last lanes, and all data that is not about a peer, are read in
// the same round.
class WorkerReporter {
 public:
  static constexpr Duration kInterval = Duration::milliseconds(100);
  static constexpr std::size_t kLanesPerStep = 16;

  // The references must outlive this object. `index` is the number of the worker.
  WorkerReporter(const gateway::Gateway& engine, const Worker& worker,
                 std::array<const dpdk::Port*, 2> ports, unsigned index)
      : engine_(engine), worker_(worker), ports_(ports), index_(index) {}

  // --- the worker's thread ----------------------------------------------------------------------
  // Does the next step of a report, if one is due or under way.
  void run(Instant now);
  // While a report is under way, this time is in the past, so that the next round follows at once.
  Instant next_timeout() const { return next_; }

  // --- any other thread, one at a time ----------------------------------------------------------
  // Has the same meaning as ops::LatestValue::take().
  const WorkerReport* take() { return reports_.take(); }

 private:
  void complete(WorkerReport& report, Instant now) const;

  const gateway::Gateway& engine_;
  const Worker& worker_;
  std::array<const dpdk::Port*, 2> ports_;
  unsigned index_;
  Instant next_;
  std::size_t told_lanes_ = 0;  // number of lanes already in the report that is under way
  ops::LatestValue<WorkerReport> reports_;
};

}  // namespace satrelay::satrelayd
