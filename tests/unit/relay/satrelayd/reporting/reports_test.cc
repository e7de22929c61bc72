// The reports of the workers, which are made in steps, and their sum.
#include "relay/satrelayd/reporting/reports.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/satrelayd/workers/worker_fixture.h"

namespace satrelay::satrelayd::reports_test {
namespace {

class ReportsTest : public WorkerTest {
 protected:
  static std::vector<std::string> names_of(const std::vector<gateway::PeerSnapshot>& peers) {
    std::vector<std::string> names;
    for (const gateway::PeerSnapshot& peer : peers) names.push_back(peer.name);
    return names;
  }
  static std::vector<std::string> names_of(const config::Gateway& config) {
    std::vector<std::string> names;
    for (const config::Peer& peer : config.peers) names.push_back(peer.name);
    return names;
  }
};

TEST_F(ReportsTest, TellsAFewLanesARound) {
  eal();
  const auto lan = port("lan-a", ring("lan-a-in"), ring("lan-a-out"));
  const auto wan = port("wan-a", ring("wan-a-in"), ring("wan-a-out"));
  const config::Gateway config = gateway(40);
  Instant now = dpdk::now();
  Engine own(config, {}, now);
  CaptureTap tap;
  Worker worker(*own.engine, *lan, *wan, pool(), tap);
  WorkerReporter reporter(*own.engine, worker, {lan.get(), wan.get()}, 0);
  for (int report = 0; report < 3; ++report) {
    for (int step = 1; step <= 3; ++step) {
      EXPECT_LE(reporter.next_timeout(), now) << "nothing rests while a report is under way";
      EXPECT_EQ(reporter.take(), nullptr);
      now = now + Duration::microseconds(10);
      reporter.run(now);
    }
    const WorkerReport* const told = reporter.take();
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(names_of(told->peers), names_of(config));
    EXPECT_EQ(told->at, now);
    EXPECT_EQ(reporter.next_timeout(), now + WorkerReporter::kInterval);
    reporter.run(now + Duration::milliseconds(99));
    EXPECT_EQ(reporter.take(), nullptr);
    now = reporter.next_timeout();
  }
}

TEST_F(ReportsTest, AddsUpWhatAllWorkersTell) {
  eal();
  const auto lan = port("lan-b", ring("lan-b-in"), ring("lan-b-out"));
  const auto wan = port("wan-b", ring("wan-b-in"), ring("wan-b-out"));
  config::Gateway config = gateway(20);
  config.worker.count = 4;  // three workers are enough here
  const Instant now = dpdk::now();
  Engine first(config, {.worker = 0, .workers = 4}, now);
  Engine second(config, {.worker = 1, .workers = 4}, now);
  Engine third(config, {.worker = 2, .workers = 4}, now);
  CaptureTap tap;
  Worker one(*first.engine, *lan, *wan, pool(), tap);
  Worker two(*second.engine, *lan, *wan, pool(), tap);
  Worker three(*third.engine, *lan, *wan, pool(), tap);
  const std::array<const dpdk::Port*, 2> ports{lan.get(), wan.get()};
  WorkerReporter reporter_one(*first.engine, one, ports, 0);
  WorkerReporter reporter_two(*second.engine, two, ports, 1);
  WorkerReporter reporter_three(*third.engine, three, ports, 2);
  Reports reports({&reporter_one, &reporter_two, &reporter_three}, ports);
  EXPECT_FALSE(reports.latest().has_value());
  const auto tell = [&](WorkerReporter& reporter, Instant at) {
    reporter.run(at);
    reporter.run(at);
  };
  const auto rounds_of = [](const ops::Snapshot& snapshot) {
    std::vector<std::string> workers;
    for (const auto& histogram : snapshot.histograms) {
      if (histogram.field == &ops::kWorkerRound) workers.push_back(histogram.of);
    }
    return workers;
  };
  // Nothing is known of a worker that has just begun. The workers after it keep their numbers.
  tell(reporter_three, now);
  EXPECT_FALSE(reports.latest().has_value());
  tell(reporter_one, now);
  const auto alone = reports.latest();
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->snapshot->workers.size(), 3U);
  EXPECT_EQ(rounds_of(*alone->snapshot), (std::vector<std::string>{"0", "2"}));
  const std::uint64_t memory = alone->snapshot->status.arena_bytes / 2;
  EXPECT_GT(memory, 0U);
  tell(reporter_two, now);
  EXPECT_EQ(reports.latest()->snapshot, alone->snapshot) << "a sum a report of the first one";
  // The sum takes the last report of a worker that reports nothing more.
  for (int i = 1; i <= 2; ++i) {
    tell(reporter_one, now + Duration::milliseconds(200) * i);
    const auto all = reports.latest();
    ASSERT_TRUE(all.has_value());
    EXPECT_NE(all->snapshot, alone->snapshot);
    EXPECT_EQ(all->snapshot->workers.size(), 3U);
    EXPECT_EQ(rounds_of(*all->snapshot), (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_EQ(all->snapshot->status.arena_bytes, 3 * memory);
    EXPECT_EQ(names_of(all->snapshot->peers), names_of(config));
    ASSERT_EQ(all->snapshot->ports.size(), 2U);
    EXPECT_EQ(all->snapshot->ports[1].name, "wan-b");
  }
  EXPECT_EQ(names_of(alone->snapshot->peers), names_of(config)) << "as it was";
}

}  // namespace
}  // namespace satrelay::satrelayd::reports_test
