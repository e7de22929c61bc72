#include "relay/satrelayd/workers/worker_report.h"

#include <utility>

#include "relay/gateway/snapshot_sum.h"

namespace satrelay::satrelayd {
namespace {

constexpr std::array kIds{gateway::PortId::kLan, gateway::PortId::kWan};

}  // namespace

void WorkerReporter::run(Instant now) {
  if (now < next_) return;
  WorkerReport& report = reports_.draft();
  if (told_lanes_ == 0) report.peers.clear();
  auto lanes = engine_.peers(told_lanes_, kLanesPerStep);
  const std::size_t count = lanes.size();
  gateway::append_lanes(report.peers, std::move(lanes));
  told_lanes_ += count;
  if (count == kLanesPerStep) return;
  complete(report, now);
  reports_.publish();
  told_lanes_ = 0;
  next_ = now + kInterval;
}

void WorkerReporter::complete(WorkerReport& report, Instant now) const {
  report.at = now;
  report.status = engine_.status(now);
  report.links = engine_.links();
  report.counters = engine_.counters();
  report.team = worker_.counters();
  report.rounds = worker_.rounds();
  report.histograms = engine_.histograms();
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    dpdk::PortStats stats = index_ == 0 ? ports_[i]->device_stats() : dpdk::PortStats();
    if (index_ < ports_[i]->queues()) add_to(stats, ports_[i]->queue_stats(index_));
    const Worker::Drops& drops = worker_.drops(kIds[i]);
    stats.rx_no_buffer += drops.no_buffer;
    stats.tx_unsent += drops.bridge_overflow;
    report.ports[i] = stats;
  }
}

}  // namespace satrelay::satrelayd
