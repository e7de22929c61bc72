#include "relay/satrelayd/reporting/reports.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "relay/dpdk/loop/clock.h"
#include "relay/gateway/snapshot_sum.h"

namespace satrelay::satrelayd {
namespace {

ops::PortSnapshot snapshot_of(const dpdk::Port& port) {
  const dpdk::LinkState link = port.link();
  return {.name = port.name(),
          .device = port.description(),
          .mac = port.mac(),
          .mtu = port.mtu(),
          .link_up = link.up,
          .gone = link.gone,
          .link_megabits = link.megabits,
          .stats = {}};
}

void add_counters(gateway::Counters& sum, const gateway::Counters& more) {
  for (const auto& field : gateway::Counters::kFields) sum.add(field.member, more[field.member]);
}

}  // namespace

std::shared_ptr<const ops::Snapshot> Reports::sum() const {
  const auto sum = std::make_shared<ops::Snapshot>();
  std::vector<gateway::HistogramSnapshot> histograms;
  sum->ports = {snapshot_of(*ports_[0]), snapshot_of(*ports_[1])};
  for (std::size_t worker = 0; worker < latest_.size(); ++worker) {
    const WorkerReport* const report = latest_[worker];
    if (report == nullptr) {
      // An empty entry, so that the entries of later workers have the right index.
      sum->workers.emplace_back();
      continue;
    }
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      satrelay::add_to(sum->ports[i].stats, report->ports[i]);
    }
    sum->histograms.push_back(
        {.field = &ops::kWorkerRound, .of = std::to_string(worker), .values = report->rounds});
    sum->workers.push_back({.flows = report->status.flows, .counters = report->team});
    if (worker == 0) {
      sum->status = report->status;
      sum->peers = report->peers;
      sum->links = report->links;
      sum->counters = report->counters;
      histograms = report->histograms;
    } else {
      gateway::add_to(sum->status, report->status);
      gateway::add_to(sum->peers, report->peers);
      gateway::add_to(sum->links, report->links);
      add_counters(sum->counters, report->counters);
      gateway::add_to(histograms, report->histograms);
    }
  }
  std::ranges::move(histograms, std::back_inserter(sum->histograms));
  return sum;
}

std::optional<ops::SnapshotBoard::Published> Reports::latest() {
  const std::lock_guard lock(mutex_);
  // Take the other workers' reports only if the first worker has a new report. Then one sum is
  // computed for each report, regardless of the number of readers.
  if (const WorkerReport* first = workers_[0]->take()) {
    latest_[0] = first;
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      if (const WorkerReport* report = workers_[i]->take()) latest_[i] = report;
    }
    sum_ = sum();
  }
  if (sum_ == nullptr) return std::nullopt;
  const Duration age = dpdk::now() - latest_[0]->at;
  return ops::SnapshotBoard::Published{sum_, std::chrono::nanoseconds(age.to_nanoseconds())};
}

}  // namespace satrelay::satrelayd
