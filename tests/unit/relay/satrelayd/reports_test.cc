// What workers tell, in steps, and what becomes of it together.
#include "relay/satrelayd/reports.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/satrelayd/worker_fixture.h"

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
  config.worker.count = 2;
  const Instant now = dpdk::now();
  Engine first(config, {.worker = 0, .workers = 2}, now);
  Engine second(config, {.worker = 1, .workers = 2}, now);
  CaptureTap tap;
  Worker one(*first.engine, *lan, *wan, pool(), tap);
  Worker two(*second.engine, *lan, *wan, pool(), tap);
  const std::array<const dpdk::Port*, 2> ports{lan.get(), wan.get()};
  WorkerReporter reporter_one(*first.engine, one, ports, 0);
  WorkerReporter reporter_two(*second.engine, two, ports, 1);
  Reports reports({&reporter_one, &reporter_two}, ports);
  EXPECT_FALSE(reports.latest().has_value());
  const auto tell = [&](WorkerReporter& reporter, Instant at) {
    reporter.run(at);
    reporter.run(at);
  };
  // One that has just begun is left out.
  tell(reporter_one, now);
  const auto alone = reports.latest();
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->snapshot->workers.size(), 1U);
  const std::uint64_t memory = alone->snapshot->status.arena_bytes;
  EXPECT_GT(memory, 0U);
  tell(reporter_two, now);
  EXPECT_EQ(reports.latest()->snapshot, alone->snapshot) << "a sum a report of the first one";
  // Who tells nothing more is told of with what it has told last.
  for (int i = 1; i <= 2; ++i) {
    tell(reporter_one, now + Duration::milliseconds(200) * i);
    const auto both = reports.latest();
    ASSERT_TRUE(both.has_value());
    EXPECT_NE(both->snapshot, alone->snapshot);
    EXPECT_EQ(both->snapshot->workers.size(), 2U);
    EXPECT_EQ(both->snapshot->status.arena_bytes, 2 * memory);
    EXPECT_EQ(names_of(both->snapshot->peers), names_of(config));
    ASSERT_EQ(both->snapshot->ports.size(), 2U);
    EXPECT_EQ(both->snapshot->ports[1].name, "wan-b");
  }
  EXPECT_EQ(names_of(alone->snapshot->peers), names_of(config)) << "as it was";
}

}  // namespace
}  // namespace satrelay::satrelayd::reports_test
