// A worker of one gateway over ports that are rings in memory (DPDK's net_ring).
#include "relay/satrelayd/worker.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/satrelayd/worker_fixture.h"

namespace satrelay::satrelayd::worker_test {
namespace {

// The engine's clock is then that of the frames: what it has left for its next call is due by that,
// and later than the round has begun.
TEST_F(WorkerTest, DoesWhatIsDueByTheTimeOfTheFramesThatHaveCome) {
  eal();
  rte_ring* const lan_in = ring("lan-in");
  rte_ring* const wan_out = ring("wan-out");
  const auto lan = port("lan", lan_in, ring("lan-out"));
  const auto wan = port("wan", ring("wan-in"), wan_out);
  const Instant start = dpdk::now();
  Engine own(gateway(), {}, start);
  gateway::Gateway& engine = *own.engine;
  CaptureTap tap;
  Worker worker(engine, *lan, *wan, pool(), tap);
  ASSERT_LE(engine.next_timeout(), start);
  ASSERT_EQ(rte_ring_enqueue(lan_in, packet_of(60, 0xff).release()), 0);
  worker.round(start - Duration::seconds(1));
  std::size_t questions = 0;  // who has the next hop's address
  void* sent = nullptr;
  while (rte_ring_dequeue(wan_out, &sent) == 0) {
    const dpdk::Packet packet(static_cast<rte_mbuf*>(sent));
    if (packet.bytes()[12] == std::byte{0x08} && packet.bytes()[13] == std::byte{0x06}) ++questions;
  }
  EXPECT_EQ(questions, 1U);
}

TEST_F(WorkerTest, CountsTheRecordsThatFindNoRoom) {
  eal();
  const auto lan = port("lan-r", ring("lan-r-in"), ring("lan-r-out"));
  const auto wan = port("wan-r", ring("wan-r-in"), ring("wan-r-out"));
  Engine own(gateway(), {}, dpdk::now());
  CaptureTap tap;
  Worker worker(*own.engine, *lan, *wan, pool(), tap);
  records::RecordRing records(2);
  worker.record_flows(records);
  for (int i = 0; i < 5; ++i) worker.handle_end({});
  EXPECT_EQ(records.size(), 2U);
  EXPECT_EQ(worker.counters().records_lost, 3U);
}

}  // namespace
}  // namespace satrelay::satrelayd::worker_test
