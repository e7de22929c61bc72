#include "relay/satrelayd/publisher.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "relay/dpdk/clock.h"
#include "relay/gateway/snapshot_sum.h"

namespace satrelay::satrelayd {
namespace {

constexpr Duration kRequestInterval = Duration::milliseconds(5);

ops::PortSnapshot snapshot_of(const dpdk::Port& port) {
  const dpdk::LinkState link = port.link();
  return {.name = port.name(),
          .device = port.description(),
          .mac = port.mac(),
          .mtu = port.mtu(),
          .link_up = link.up,
          .gone = link.gone,
          .link_megabits = link.megabits,
          .stats = port.device_stats()};
}

class Live final : public ops::LiveView {
 public:
  Live(const Engines& engines, Instant now) : engines_(engines), now_(now) {}
  std::vector<gateway::FlowSnapshot> flows(std::size_t first, std::size_t count) const override {
    return engines_.flows(first, count, now_);
  }
  std::optional<gateway::FlowSnapshot> flow(std::uint64_t id) const override {
    return engines_.flow(id, now_);
  }
  std::vector<gateway::RuleSnapshot> rules(std::size_t first, std::size_t count) const override {
    return engines_.rules(first, count);
  }
  std::vector<gateway::ClassSnapshot> classes() const override { return engines_.classes(); }
  std::vector<gateway::BridgedSnapshot> bridged() const override { return engines_.bridged(now_); }
  gateway::Explanation explain(const gateway::PolicyKey& key) const override {
    return engines_.explain(key, now_);
  }

 private:
  const Engines& engines_;
  Instant now_;
};

void add_to(gateway::Counters& sum, const gateway::Counters& more) {
  for (const auto& field : gateway::Counters::kFields) sum.add(field.member, more[field.member]);
}

}  // namespace

Publisher::Publisher(const Engines& engines, Crew& crew, std::vector<const WorkerReporter*> workers,
                     std::array<const dpdk::Port*, 2> ports, ops::SnapshotBoard& board)
    : engines_(engines), crew_(crew), workers_(std::move(workers)), ports_(ports), board_(board) {}

ops::Snapshot Publisher::snapshot(Instant now) const {
  WorkerReport sum = workers_[0]->report(now);
  ops::Snapshot snapshot;
  snapshot.ports = {snapshot_of(*ports_[0]), snapshot_of(*ports_[1])};
  const auto add_worker = [&](const WorkerReport& report) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      satrelay::add_to(snapshot.ports[i].stats, report.ports[i]);
    }
    snapshot.histograms.push_back({.field = &ops::kWorkerRound,
                                   .of = std::to_string(snapshot.workers.size()),
                                   .values = report.rounds});
    snapshot.workers.push_back({.flows = report.status.flows, .counters = report.team});
  };
  add_worker(sum);
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    const auto report = workers_[i]->latest();
    if (!report) continue;  // it has just begun
    add_worker(*report);
    gateway::add_to(sum.status, report->status);
    gateway::add_to(sum.peers, report->peers);
    add_to(sum.counters, report->counters);
    gateway::add_to(sum.histograms, report->histograms);
  }
  snapshot.status = sum.status;
  snapshot.peers = std::move(sum.peers);
  snapshot.counters = sum.counters;
  std::ranges::move(sum.histograms, std::back_inserter(snapshot.histograms));
  return snapshot;
}

void Publisher::run(Instant now) {
  if (now >= next_request_check_) {
    next_request_check_ = now + kRequestInterval;
    if (board_.is_asked()) {
      const Crew::Rest rest(crew_);
      if (rest.is_complete()) {
        // The other workers have gone on since this round began.
        board_.answer(Live(engines_, dpdk::now()));
      } else {
        // Each try keeps all the others from their traffic.
        next_request_check_ = now + WorkerReporter::kInterval;
      }
    }
  }
  if (now < next_) return;
  next_ = now + WorkerReporter::kInterval;
  board_.publish(snapshot(now));
}

}  // namespace satrelay::satrelayd
