// What one worker tells of itself ten times a second, for the one that publishes it of all.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "pep/base/histogram.h"
#include "pep/base/time.h"
#include "relay/dpdk/port.h"
#include "relay/dpdk/port_stats.h"
#include "relay/gateway/gateway.h"
#include "relay/satrelayd/worker.h"

namespace satrelay::satrelayd {

struct WorkerReport {
  gateway::Status status;
  std::vector<gateway::PeerSnapshot> peers;  // lanes of a peer joined
  gateway::Counters counters;
  std::array<dpdk::PortStats, 2> ports;  // of its queues
  ops::WorkerCounters team;
  Histogram rounds{ops::kWorkerRound.bounds};
  std::vector<gateway::HistogramSnapshot> histograms;  // of its engine
};

// By the thread of the worker, but for latest().
class WorkerReporter {
 public:
  static constexpr Duration kInterval = Duration::milliseconds(100);

  // All must outlive it. `index`: of the worker.
  WorkerReporter(const gateway::Gateway& engine, const Worker& worker,
                 std::array<const dpdk::Port*, 2> ports, unsigned index)
      : engine_(engine), worker_(worker), ports_(ports), index_(index) {}

  WorkerReport report(Instant now) const;
  // Leaves a report where latest() finds it, if that is due and nobody is looking.
  void run(Instant now);
  Instant next_timeout() const { return next_; }
  // Any thread; nullopt before the first one.
  std::optional<WorkerReport> latest() const;

 private:
  const gateway::Gateway& engine_;
  const Worker& worker_;
  std::array<const dpdk::Port*, 2> ports_;
  unsigned index_;
  Instant next_;
  mutable std::mutex mutex_;  // guards what follows; held only to copy or move
  std::optional<WorkerReport> latest_;
};

}  // namespace satrelay::satrelayd
