// Workers of one gateway over ports that are rings in memory (DPDK's net_ring).
#include "relay/satrelayd/workers/worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pep/wire/arp.h"
#include "relay/gateway/steering/flow_hash.h"
#include "relay/sim/network/fragments.h"
#include "tests/unit/relay/gateway/frame_builder.h"
#include "tests/unit/relay/satrelayd/workers/worker_fixture.h"

namespace satrelay::satrelayd::worker_test {
namespace {

// Frames advance the engine's clock to their arrival, which is later than the start of the round.
// The engine's deferred work is due at that time.
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
  std::size_t questions = 0;  // ARP requests for the next hop
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

// Two workers. The first one receives all frames.
class TeamTest : public WorkerTest {
 protected:
  static constexpr std::string_view kServer = "203.0.0.9";

  TeamTest() {
    eal();
    static int number = 0;  // rings stay, so each test needs new names
    const std::string name = "t" + std::to_string(number++);
    lan_in_ = ring(name + "-lan-in");
    wan_in_ = ring(name + "-wan-in");
    wan_out_ = ring(name + "-wan-out");
    lan_ = port(name + "-lan", lan_in_, ring(name + "-lan-out"));
    wan_ = port(name + "-wan", wan_in_, wan_out_);
    config::Gateway config = gateway();
    config.worker.count = 2;
    handover_.emplace("t", 2);
    for (unsigned i = 0; i < 2; ++i) {
      engines_.push_back(
          std::make_unique<Engine>(config, gateway::Share{.worker = i, .workers = 2}, dpdk::now()));
      workers_.push_back(
          std::make_unique<Worker>(*engines_[i]->engine, *lan_, *wan_, pool(), tap_,
                                   Worker::Team{i, *handover_, gateway::Steering(config, {1, 2})}));
    }
  }
  ~TeamTest() override {
    workers_.clear();
    handover_.reset();
  }

  // The n-th host with flows to the server that belong to `worker`.
  static std::string host_of(unsigned worker, unsigned n = 0) {
    for (unsigned last = 1;; ++last) {
      std::string host = "10.0.0." + std::to_string(last);
      const std::uint32_t hash =
          gateway::flow_hash(gateway::ip_of(host), gateway::ip_of(kServer), 7, 7);
      if ((hash & 1U) == worker && n-- == 0) return host;
    }
  }
  static gateway::FrameBytes datagram(unsigned worker, std::uint8_t mark) {
    return gateway::udp_frame(host_of(worker), kServer, 7, {std::byte{mark}});
  }
  // The segment belongs to an unknown connection.
  static std::vector<gateway::FrameBytes> segment_in_fragments(unsigned worker) {
    wire::TcpHeader tcp;
    tcp.source_port = tcp.destination_port = 7;
    tcp.flags = wire::TcpFlags::kAck;
    const auto whole = gateway::tcp_frame(host_of(worker, 1), kServer, tcp,
                                          gateway::host_to_server(), std::string(100, 'x'));
    return sim::fragments_of(whole, {.size = 48, .identification = 5});
  }
  static void put(rte_ring* ring, ConstBytes frame) {
    dpdk::Packet packet = pool().allocate();
    std::ranges::copy(frame, packet.room().begin());
    packet.set_size(frame.size());
    ASSERT_EQ(rte_ring_enqueue(ring, packet.release()), 0);
  }
  void come(const gateway::FrameBytes& frame) { put(lan_in_, frame); }
  // Returns the IPv4 frames that have left by the WAN.
  std::vector<gateway::FrameBytes> left() {
    std::vector<gateway::FrameBytes> frames;
    for (void* sent = nullptr; rte_ring_dequeue(wan_out_, &sent) == 0;) {
      const dpdk::Packet packet(static_cast<rte_mbuf*>(sent));
      if (packet.bytes()[12] != std::byte{0x08} || packet.bytes()[13] != std::byte{0}) continue;
      frames.emplace_back(packet.bytes().begin(), packet.bytes().end());
    }
    return frames;
  }
  void round(unsigned worker) { workers_[worker]->round(dpdk::now()); }

  rte_ring* lan_in_;
  rte_ring* wan_in_;
  rte_ring* wan_out_;
  std::unique_ptr<dpdk::Port> lan_, wan_;
  std::optional<Handover> handover_;
  CaptureTap tap_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

// The first worker handles its own frames in order, and gives the others' frames to them. Fragments
// wait until the fragment with the ports arrives. The other worker only overhears ARP.
TEST_F(TeamTest, KeepsItsOwnAndGivesTheRest) {
  auto fragments = segment_in_fragments(0);
  ASSERT_GE(fragments.size(), 3U);
  std::ranges::rotate(fragments, fragments.begin() + 1);  // the first fragment comes last
  gateway::FrameBytes arp(60);
  wire::EthernetHeader ethernet = gateway::host_to_server();
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, arp);

  std::vector<gateway::FrameBytes> expected = {datagram(0, 1), datagram(0, 2)};
  come(datagram(1, 3));
  come(expected[0]);
  come(fragments[0]);
  come(datagram(1, 4));
  come(arp);
  come(expected[1]);
  for (std::size_t i = 1; i < fragments.size(); ++i) come(fragments[i]);
  for (const auto& fragment : fragments) expected.push_back(fragment);
  expected.push_back(datagram(0, 5));
  come(expected.back());
  come(datagram(1, 6));
  round(0);
  EXPECT_EQ(workers_[0]->counters().given, 3U);
  std::vector<gateway::FrameBytes> own = left();
  // The fragments may leave in any order: their receiver reassembles them.
  ASSERT_EQ(own.size(), expected.size());
  const auto from = static_cast<std::ptrdiff_t>(2);
  const auto to = static_cast<std::ptrdiff_t>(2 + fragments.size());
  std::sort(own.begin() + from, own.begin() + to);
  std::sort(expected.begin() + from, expected.begin() + to);
  EXPECT_EQ(own, expected);

  round(1);
  EXPECT_EQ(workers_[1]->counters().taken, 3U);
  round(0);  // the first worker has the only queue
  EXPECT_EQ(left(), (std::vector{datagram(1, 3), datagram(1, 4), datagram(1, 6)}));
}

// All workers must know the peer's MAC address, though only one of them handles ARP.
TEST_F(TeamTest, AllHearWhereThePeerIs) {
  gateway::FrameBytes arp(60);
  wire::EthernetHeader ethernet;
  ethernet.source = gateway::kPeerMac;
  ethernet.destination = gateway::kGatewayMac;
  ethernet.type = wire::EtherType::kArp;
  wire::write_ethernet(ethernet, arp);
  wire::write_arp({.operation = wire::ArpOperation::kReply,
                   .sender_mac = gateway::kPeerMac,
                   .sender = IpAddress::v4({192, 0, 2, 2}),
                   .target_mac = gateway::kGatewayMac,
                   .target = IpAddress::v4({192, 0, 2, 1})},
                  MutableBytes(arp).subspan(ethernet.size()));
  put(wan_in_, arp);
  round(0);
  EXPECT_TRUE(engines_[0]->engine->peers()[0].resolved);
  EXPECT_FALSE(engines_[1]->engine->peers()[0].resolved);
  round(1);
  EXPECT_TRUE(engines_[1]->engine->peers()[0].resolved);
}

// The peer's gateway has one worker, with a lane to each of the two workers.
class TeamWithPeerTest : public TeamTest {
 protected:
  TeamWithPeerTest() {
    config::Gateway config = gateway();
    std::swap(config.gateway.own, config.peers[0].address);
    config.peers[0].prefixes = {*IpPrefix::parse("10.0.0.0/24")};
    config.peers[0].workers = 2;
    far_.emplace(config, gateway::Share{}, dpdk::now(), 2);
  }
  // Carries the frames of each side to the other side.
  void carry() {
    const Instant now = dpdk::now();
    for (void* sent = nullptr; rte_ring_dequeue(wan_out_, &sent) == 0;) {
      const dpdk::Packet packet(static_cast<rte_mbuf*>(sent));
      far().handle_frame(gateway::PortId::kWan, packet.bytes(), now);
    }
    if (far().next_timeout() <= now) far().handle_timeout(now);
    std::vector<std::byte> frame(far().max_frame_size());
    for (;;) {
      const gateway::Polled polled = far().poll_frame(gateway::PortId::kWan, frame, now);
      if (polled.kind == gateway::Polled::Kind::kNothing) break;
      put(wan_in_, ConstBytes(frame).first(polled.size));
    }
  }
  void greet() {
    const Instant give_up = dpdk::now() + Duration::seconds(10);
    const auto is_alive = [](gateway::Gateway& engine) {
      return std::ranges::all_of(
          engine.peers(), [](const auto& lane) { return lane.state == stp::PeerState::kAlive; });
    };
    while (!is_alive(far()) || !is_alive(*engines_[0]->engine) || !is_alive(*engines_[1]->engine)) {
      ASSERT_LT(dpdk::now(), give_up);
      carry();
      round(0);
      round(1);
    }
    for (int i = 0; i < 200; ++i) {
      carry();
      round(0);
      round(1);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }
  gateway::Gateway& far() { return *far_->engine; }
  stp::Counters told_by(unsigned worker) { return engines_[worker]->engine->peers()[0].counters; }

  std::optional<Engine> far_;
};

// The packets waited in the queue of the first worker. The second worker must report that they are
// late.
TEST_F(TeamWithPeerTest, TellsThatPacketsWaitedAtTheOtherWorkersQueue) {
  greet();
  const std::uint64_t before = told_by(1).late_reports_out;  // not zero if the machine stalls
  ASSERT_EQ(far().rates().set_capacity("sat", gateway::LinkWay::kReceive,
                                       BitRate::bits_per_second(9'000'000), dpdk::now()),
            gateway::CapacityResult::kSet);
  carry();
  rest();
  for (int i = 0; i < 100; ++i) {
    round(0);
    round(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_GT(told_by(1).late_reports_out, before);
}

// The packets of the second worker leave by the first one, which sends them late.
TEST_F(TeamWithPeerTest, HearsOfWhatTheFirstWorkerSendsLate) {
  greet();
  while (handover_->take_late(1)) {
  }
  const BitRate capacity = BitRate::bits_per_second(9'000'000);
  ASSERT_EQ(engines_[1]->engine->rates().set_capacity("sat", gateway::LinkWay::kReceive, capacity,
                                                      dpdk::now()),
            gateway::CapacityResult::kSet);
  const Instant written = dpdk::now();
  round(1);
  rest();
  round(0);
  const auto late = handover_->take_late(1);
  ASSERT_TRUE(late);
  EXPECT_GE(late->since, written);
  EXPECT_GE(late->now, late->since + Duration::milliseconds(30));
  handover_->note_late(1, late->since, dpdk::now());
  round(1);
  EXPECT_FALSE(handover_->take_late(1)) << "it asks by itself";
}

}  // namespace
}  // namespace satrelay::satrelayd::worker_test
