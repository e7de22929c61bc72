// A worker of one gateway over ports that are rings in memory (DPDK's net_ring).
#include "relay/satrelayd/worker.h"

#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_ring.h>

#include <memory>
#include <string>
#include <vector>

#include "pep/base/seeded_entropy.h"
#include "relay/dpdk/clock.h"
#include "relay/gateway/flows/memory_plan.h"
#include "tests/unit/relay/dpdk/packet_fixture.h"

namespace satrelay::satrelayd::worker_test {
namespace {

class WorkerTest : public dpdk::PacketTest {
 protected:
  static rte_ring* ring(const std::string& name) {
    return rte_ring_create(name.c_str(), 256, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
  }
  static std::unique_ptr<dpdk::Port> port(const std::string& name, rte_ring* in, rte_ring* out) {
    EXPECT_GE(rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0), 0);
    config::Port config;
    config.driver = config::Driver::kPci;
    config.pci = "net_ring_" + name;
    config.mtu = 1500;
    return std::make_unique<dpdk::Port>(name, config, pool());
  }
  static config::Gateway gateway() {
    config::Gateway config;
    config.gateway.own = IpAddress::v4({192, 0, 2, 1});
    config.gateway.address = *IpPrefix::parse("192.0.2.0/30");
    config.links = {{.name = "sat",
                     .send_rate = BitRate::bits_per_second(10'000'000),
                     .receive_rate = BitRate::bits_per_second(10'000'000)}};
    config.peers = {{.name = "far",
                     .address = IpAddress::v4({192, 0, 2, 2}),
                     .prefixes = {*IpPrefix::parse("203.0.113.0/24")},
                     .link = "sat"}};
    config.limits.flows = 16;
    return config;
  }
};

// The engine's clock is then that of the frames: what it has left for its next call is due by that,
// and later than the round has begun.
TEST_F(WorkerTest, DoesWhatIsDueByTheTimeOfTheFramesThatHaveCome) {
  eal();
  rte_ring* const lan_in = ring("lan-in");
  rte_ring* const wan_out = ring("wan-out");
  const auto lan = port("lan", lan_in, ring("lan-out"));
  const auto wan = port("wan", ring("wan-in"), wan_out);
  const config::Gateway config = gateway();
  SeededEntropy entropy(1);
  gateway::Identity identity;
  identity.boot_epoch = 1;
  identity.wan_mac = {{0x02, 0, 0, 0, 0xff, 1}};
  identity.entropy = &entropy;
  std::vector<std::byte> memory(gateway::plan_memory(config, identity.share).arena.value());
  const Instant start = dpdk::now();
  gateway::Gateway engine(config, identity, memory, start);
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
  const config::Gateway config = gateway();
  SeededEntropy entropy(1);
  gateway::Identity identity;
  identity.boot_epoch = 1;
  identity.entropy = &entropy;
  std::vector<std::byte> memory(gateway::plan_memory(config, identity.share).arena.value());
  gateway::Gateway engine(config, identity, memory, dpdk::now());
  CaptureTap tap;
  Worker worker(engine, *lan, *wan, pool(), tap);
  records::RecordRing records(2);
  worker.record_flows(records);
  for (int i = 0; i < 5; ++i) worker.handle_end({});
  EXPECT_EQ(records.size(), 2U);
  EXPECT_EQ(worker.counters().records_lost, 3U);
}

}  // namespace
}  // namespace satrelay::satrelayd::worker_test
