#include "relay/satrelayd/workers/worker_set.h"

#include <array>
#include <utility>

#include "relay/gateway/addresses/common_knowledge.h"
#include "relay/gateway/steering/steering.h"

namespace satrelay::satrelayd {

WorkerSet::WorkerSet(const config::Gateway& config, EngineSet& engines, Devices& devices,
                     CaptureTap& tap, FlowRecords* records) {
  const unsigned count = config.worker.count;
  const gateway::Identity& identity = engines.identity();
  if (count > 1) handover_.emplace("handover", count);
  for (unsigned i = 0; i < count; ++i) {
    std::optional<Worker::Team> team;
    if (count > 1) {
      team.emplace(Worker::Team{i, *handover_,
                                gateway::Steering(config, {identity.secret[0], identity.secret[1]},
                                                  {identity.common, &identity.common->awaited})});
    }
    gateway::Gateway& engine = engines.engines()[i];
    workers_.push_back(std::make_unique<Worker>(engine, devices.lan, devices.wan, devices.pool, tap,
                                                std::move(team)));
    if (records != nullptr) workers_.back()->record_flows(records->ring(i));
    reporters_.push_back(std::make_unique<WorkerReporter>(
        engine, *workers_.back(), std::array<const dpdk::Port*, 2>{&devices.lan, &devices.wan}, i));
    if (i > 0) members_.push_back({workers_.back().get(), reporters_.back().get()});
  }
}

std::vector<WorkerReporter*> WorkerSet::reporters() const {
  std::vector<WorkerReporter*> each;
  for (const auto& reporter : reporters_) each.push_back(reporter.get());
  return each;
}

void WorkerSet::round(Instant now) {
  for (const auto& worker : workers_) worker->round(now);
}

std::uint64_t WorkerSet::records_lost() const {
  std::uint64_t lost = 0;
  for (const auto& worker : workers_) lost += worker->counters().records_lost;
  return lost;
}

}  // namespace satrelay::satrelayd
