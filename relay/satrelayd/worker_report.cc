#include "relay/satrelayd/worker_report.h"

#include <utility>

#include "relay/gateway/snapshot_sum.h"

namespace satrelay::satrelayd {
namespace {

constexpr std::array kIds{gateway::PortId::kLan, gateway::PortId::kWan};

}  // namespace

WorkerReport WorkerReporter::report(Instant now) const {
  WorkerReport report{.status = engine_.status(now),
                      .peers = gateway::joined(engine_.peers()),
                      .counters = engine_.counters(),
                      .ports = {},
                      .team = worker_.counters(),
                      .rounds = worker_.rounds(),
                      .histograms = engine_.histograms()};
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    dpdk::PortStats& stats = report.ports[i];
    if (index_ < ports_[i]->queues()) stats = ports_[i]->queue_stats(index_);
    const Worker::Drops& drops = worker_.drops(kIds[i]);
    stats.rx_no_buffer += drops.no_buffer;
    stats.tx_unsent += drops.bridge_overflow;
  }
  return report;
}

void WorkerReporter::run(Instant now) {
  if (now < next_) return;
  next_ = now + kInterval;
  WorkerReport next = report(now);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) latest_ = std::move(next);
}

std::optional<WorkerReport> WorkerReporter::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace satrelay::satrelayd
