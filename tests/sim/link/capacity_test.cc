// The link's capacity changes while it is in use (adaptive coding and modulation). One of the two
// gateways gets the new rate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "relay/sim/checks/checks.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/plans.h"
#include "relay/sim/scenarios/scenario.h"

namespace satrelay::sim::capacity_test {
namespace {

constexpr BitRate kHigh = BitRate::bits_per_second(50'000'000);
constexpr BitRate kLow = BitRate::bits_per_second(5'000'000);
constexpr Duration kRoundTrip = Duration::milliseconds(550);

// A download from B to A that lasts beyond the test.
class Capacity : public ::testing::Test {
 protected:
  void start(std::uint64_t seed) {
    LinkSpec link;
    link.rate = kHigh;
    link.one_way_delay = kRoundTrip / 2;
    Scenario scenario = make_lab(seed, link);
    for (Station& station : scenario.stations) {
      station.hosts[0].tcp.send_limit = 4 << 20;
      station.hosts[0].tcp.receive_limit = 4 << 20;
    }
    add_flow(scenario, Side::kA, requester(100), responder(100, 500'000'000));
    network.emplace(scenario, tracer);
    network->satellite().on_frame([this](unsigned from, ConstBytes frame) {
      if (from != SatelliteLink::kB) return;
      sent += frame.size() - kEthernetHeader + config::kOverheadEthernet;
      const Duration wait = network->satellite().from_b().rate().time_for(
          ByteCount(network->satellite().from_b().counters().queue_bytes));
      queue = std::max(queue, wait);
    });
    network->run_for(Duration::seconds(8));
  }
  gateway::Gateway& engine(Side side) { return network->gateway(side).engine(); }
  // Changes the rate of the link and of the gateway that sends into it at the same instant.
  void change(BitRate rate) {
    network->satellite().from_b().set_rate(rate);
    ASSERT_EQ(engine(Side::kB).rates().set_capacity("sat", gateway::LinkWay::kSend, rate,
                                                    network->loop().now()),
              gateway::Gateway::CapacityResult::kSet);
    network->gateway(Side::kB).wake();
  }
  // Share of `rate` that B uses over `time`, in bytes as the modem counts them.
  double used(BitRate rate, Duration time) {
    const std::uint64_t before = sent;
    queue = Duration::zero();
    network->run_for(time);
    return static_cast<double>(sent - before) / static_cast<double>(rate.bytes_in(time).value());
  }
  static constexpr std::size_t kEthernetHeader = 14;
  Tracer tracer;
  std::optional<Network> network;
  std::uint64_t sent = 0;  // Bytes sent by B, as the modem counts them.
  Duration queue;          // Longest queue since used() began.
};

TEST_F(Capacity, AStepAtTheSendingGatewayCostsARoundTripAtMost) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    start(seed);
    EXPECT_GT(used(kHigh, Duration::seconds(1)), 0.99);
    change(kLow);
    const double during = used(kLow, kRoundTrip);
    const Duration first = queue;
    const double down = used(kLow, Duration::seconds(3));
    EXPECT_LT(queue, Duration::milliseconds(25));
    EXPECT_GT(down, 0.99);
    EXPECT_LT(down, 1.0);
    change(kHigh);
    const double rising = used(kHigh, kRoundTrip);
    const double up = used(kHigh, Duration::seconds(3));
    EXPECT_GT(up, 0.99);
    EXPECT_LT(queue, Duration::milliseconds(25));
    std::printf(
        "  seed %d: down: %.1f%% in the first round trip, queue %.1f ms, then %.1f%%; "
        "up: %.1f%%, then %.1f%%\n",
        static_cast<int>(seed), during * 100, first.to_seconds() * 1e3, down * 100, rising * 100,
        up * 100);
  }
}

TEST_F(Capacity, TheReceiverTellsTheSender) {
  start(1);
  // The receiving modem falls back to the low rate. The operator sets it at gateway A, and A tells
  // B.
  network->satellite().from_b().set_rate(kLow);
  EXPECT_EQ(engine(Side::kA).rates().set_capacity("sat", gateway::LinkWay::kReceive, kLow,
                                                  network->loop().now()),
            gateway::Gateway::CapacityResult::kSet);
  network->gateway(Side::kA).wake();
  network->run_for(kRoundTrip / 2 + Duration::milliseconds(5));
  EXPECT_EQ(engine(Side::kB).peers().at(0).announced, kLow);
  EXPECT_LT(engine(Side::kB).peers().at(0).send_rate, kLow);
  // The packets that B has sent meanwhile have filled the modem's queue, where B cannot see them.
  // The time that B had booked at the high rate is ten times as long now.
  network->run_for(kRoundTrip);
  EXPECT_GT(used(kLow, Duration::seconds(3)), 0.99);
  network->satellite().from_b().set_rate(kHigh);
  engine(Side::kA).rates().set_capacity("sat", gateway::LinkWay::kReceive, BitRate(),
                                        network->loop().now());
  network->gateway(Side::kA).wake();
  network->run_for(kRoundTrip);
  EXPECT_GT(used(kHigh, Duration::seconds(2)), 0.99);
  EXPECT_TRUE(engine(Side::kB).peers().at(0).announced.is_zero());
}

TEST_F(Capacity, APeerIsSentNoMoreThanTheOperatorSays) {
  start(1);
  gateway::Gateway& b = engine(Side::kB);
  EXPECT_FALSE(b.rates().set_peer_rate("near", kLow, network->loop().now()));
  EXPECT_TRUE(b.rates().set_peer_rate("far", kLow, network->loop().now()));
  network->gateway(Side::kB).wake();
  network->run_for(kRoundTrip);
  const double limited = used(kLow, Duration::seconds(3));
  EXPECT_GT(limited, 0.98);
  EXPECT_LT(limited, 1.0);
  EXPECT_TRUE(b.rates().set_peer_rate("far", BitRate(), network->loop().now()));
  network->gateway(Side::kB).wake();
  network->run_for(kRoundTrip);
  EXPECT_GT(used(kHigh, Duration::seconds(2)), 0.99);
}

TEST_F(Capacity, TheLowerOfBothEndsHoldsAndNeverMoreThanConfigured) {
  start(1);
  const Instant now = network->loop().now();
  using Result = gateway::Gateway::CapacityResult;
  gateway::Gateway& b = engine(Side::kB);
  EXPECT_EQ(b.rates().set_capacity("other", gateway::LinkWay::kSend, kLow, now),
            Result::kUnknownLink);
  EXPECT_EQ(b.rates().set_capacity("sat", gateway::LinkWay::kSend, kHigh.scaled(2, 1), now),
            Result::kAboveConfigured);
  EXPECT_EQ(b.peers().at(0).send_rate, kHigh.scaled(995, 1000));
  b.rates().set_capacity("sat", gateway::LinkWay::kSend, kLow, now);
  engine(Side::kA).rates().set_capacity("sat", gateway::LinkWay::kReceive, kHigh, now);
  network->gateway(Side::kA).wake();
  network->run_for(kRoundTrip);
  EXPECT_EQ(b.peers().at(0).send_rate, kLow.scaled(995, 1000));
  b.rates().set_capacity("sat", gateway::LinkWay::kSend, BitRate(), network->loop().now());
  EXPECT_EQ(b.peers().at(0).send_rate, kHigh.scaled(995, 1000));
}

}  // namespace
}  // namespace satrelay::sim::capacity_test
