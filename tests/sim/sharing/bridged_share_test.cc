// Bridged frames and relayed streams on one carrier. Each gets its part, and neither overruns the
// modem.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"
#include "tests/sim/sharing/udp_traffic.h"

namespace satrelay::sim::bridged_share_test {
namespace {

using gateway::Counter;

constexpr Instant kUdpStart = Instant::from_nanoseconds(8'000'000'000);
constexpr std::size_t kIpBytes = 1'500;
const double kFrameBits = UdpTraffic::frame_bits(kIpBytes);
constexpr Duration kOneWay = Duration::milliseconds(275);

struct Shared {
  double udp_mbit = 0;  // As the link counts frames, over eight seconds.
  double tcp_mbit = 0;  // Payload.
  Duration modem_queue;
  Duration longest_wait;
  std::uint64_t udp_lost = 0;
  std::uint64_t dropped_by_name = 0;
};

Shared share_link(double udp_bits_per_second, bool with_tcp, std::optional<double> share = {}) {
  Scenario scenario = make_lab(31, {}, 2);
  scenario.bridged_share = share;
  if (with_tcp) add_flow(scenario, Side::kA, sender(200'000'000), receiver());
  Tracer tracer;
  Network network(scenario, tracer);
  UdpTraffic traffic(network, kOneWay);
  const UdpResult& udp = traffic.add({.bits_per_second = udp_bits_per_second,
                                      .ip_bytes = kIpBytes,
                                      .start = kUdpStart,
                                      .length = Duration::seconds(10)});
  network.loop().run_until(kUdpStart + Duration::seconds(1));
  (void)network.satellite().from_a().take_queue_peak();
  const std::uint64_t udp_before = udp.received;
  const std::uint64_t tcp_before = with_tcp ? network.flow(0).server.received : 0;
  network.run_for(Duration::seconds(8));
  Shared shared;
  shared.udp_mbit = static_cast<double>(udp.received - udp_before) * kFrameBits / 8e6;
  if (with_tcp) {
    shared.tcp_mbit = static_cast<double>(network.flow(0).server.received - tcp_before) / 1e6;
  }
  shared.modem_queue = network.satellite().from_a().take_queue_peak();
  network.run_for(Duration::seconds(3));
  EXPECT_EQ(network.satellite().from_a().counters().dropped_queue, 0U);
  EXPECT_EQ(network.gateway(Side::kA).engine().held_frames(), 0U);
  shared.udp_lost = udp.sent - udp.received;
  shared.longest_wait = udp.longest_wait;
  shared.dropped_by_name = network.counted(Counter::kDroppedBridgedQueue) +
                           network.counted(Counter::kDroppedBridgedLate);
  std::printf(
      "  UDP %2.0f Mbit/s offered%s: UDP %.2f, TCP payload %.2f Mbit/s, UDP waits up to %.1f ms, "
      "modem queue %.1f ms, %llu dropped\n",
      udp_bits_per_second / 1e6, with_tcp ? " beside TCP" : "", shared.udp_mbit, shared.tcp_mbit,
      shared.longest_wait.to_seconds() * 1e3, shared.modem_queue.to_seconds() * 1e3,
      static_cast<unsigned long long>(shared.dropped_by_name));
  return shared;
}

// STP payload that the rest of the link carries, in Mbit/s.
double tcp_part(double link_mbit) { return link_mbit * 0.995 * 1'450 / 1'538; }

// A frame that has arrived waits no longer than ten times bridged_queue before it leaves.
constexpr Duration kLongestWait = Duration::milliseconds(1'030);

TEST(BridgedShare, UdpWithinItsShareLosesNothingAndWaitsLittle) {
  const Shared shared = share_link(4'900'000, true, 0.1);
  EXPECT_EQ(shared.udp_lost, 0U);
  EXPECT_LE(shared.longest_wait, Duration::milliseconds(10));
  EXPECT_LE(shared.modem_queue, Duration::milliseconds(25));
  EXPECT_GE(shared.tcp_mbit, tcp_part(50 - 4.9) * 0.985);
}

TEST(BridgedShare, AFloodOfUdpGetsItsShareAndTcpTheRest) {
  const Shared shared = share_link(60'000'000, true, 0.1);
  EXPECT_NEAR(shared.udp_mbit, 5 * 0.995, 0.05);
  EXPECT_GE(shared.tcp_mbit, tcp_part(45) * 0.985);
  EXPECT_LE(shared.modem_queue, Duration::milliseconds(25));
  EXPECT_LE(shared.longest_wait, kLongestWait);
  EXPECT_EQ(shared.udp_lost, shared.dropped_by_name);
}

TEST(BridgedShare, WithoutAShareAFloodOfUdpGetsWhatAnotherHostsTcpGets) {
  const Shared shared = share_link(60'000'000, true);
  EXPECT_NEAR(shared.udp_mbit, 25 * 0.995, 25 * 0.03);
  EXPECT_NEAR(shared.tcp_mbit, tcp_part(25), 25 * 0.03);
  EXPECT_LE(shared.modem_queue, Duration::milliseconds(25));
  EXPECT_LE(shared.longest_wait, kLongestWait);
  EXPECT_EQ(shared.udp_lost, shared.dropped_by_name);
}

TEST(BridgedShare, UdpTakesWhatTcpLeaves) {
  const Shared shared = share_link(60'000'000, false);
  EXPECT_NEAR(shared.udp_mbit, 50 * 0.995, 0.3);
  EXPECT_LE(shared.modem_queue, Duration::milliseconds(25));
  EXPECT_EQ(shared.udp_lost, shared.dropped_by_name);
}

}  // namespace
}  // namespace satrelay::sim::bridged_share_test
