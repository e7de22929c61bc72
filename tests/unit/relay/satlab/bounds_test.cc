// Bounds against figures that were calculated by hand.
#include "relay/satlab/bounds.h"

#include <gtest/gtest.h>

namespace satrelay::satlab::bounds_test {
namespace {

constexpr BitRate kTenGigabit = BitRate::bits_per_second(10'000'000'000);

// 9000 B of IP, 64 B of headers, 38 B of Ethernet: the most that HpFP's conditions allow.
TEST(Bounds, HpFpWith64BytesOfHeaders) {
  const double share = payload_share(9000, 64, 38);
  const auto gigabits = [&](double loss) { return payload_rate(kTenGigabit, loss, share) / 1e9; };
  EXPECT_NEAR(gigabits(0), 9.887, 0.0005);
  EXPECT_NEAR(gigabits(0.0001), 9.886, 0.0005);
  EXPECT_NEAR(gigabits(0.001), 9.877, 0.0005);
  EXPECT_NEAR(gigabits(0.01), 9.788, 0.0005);
  EXPECT_NEAR(gigabits(0.1), 8.898, 0.0005);
}

// docs/stp-wire.md: 20 IP, 8 UDP, 8 header, 4 CRC; DATA: type, stream, and the offset as a varint.
TEST(Bounds, HeadersFollowTheWireFormat) {
  EXPECT_EQ(packet_headers(1), 43U);
  EXPECT_EQ(packet_headers(64), 43U);
  EXPECT_EQ(packet_headers(65), 44U);
  EXPECT_EQ(packet_headers(16'384), 44U);
  EXPECT_EQ(packet_headers(1'000'000), 46U);
  EXPECT_EQ(packet_headers(std::uint64_t{1} << 31), 50U);
}

TEST(Bounds, MeanLossOfAGilbertElliottChain) {
  config::LinkDirection direction;
  direction.loss = 0.25;
  EXPECT_DOUBLE_EQ(mean_loss(direction), 0.25);
  // The link is bad for a tenth of the time: 0.01 / (0.01 + 0.09).
  direction.gilbert_elliott = config::GilbertElliott{0.01, 0.09, 0, 1};
  EXPECT_NEAR(mean_loss(direction), 0.1, 1e-12);
  direction.gilbert_elliott = config::GilbertElliott{0.01, 0.09, 0.05, 0.5};
  EXPECT_NEAR(mean_loss(direction), 0.9 * 0.05 + 0.1 * 0.5, 1e-12);
  direction.gilbert_elliott = config::GilbertElliott{0, 0, 0.02, 1};
  EXPECT_DOUBLE_EQ(mean_loss(direction), 0.02);
}

Experiment one_megabit() {
  Experiment experiment;
  sim::Scenario& scenario = experiment.scenario;
  scenario.overhead = 0;
  scenario.a_to_b.rate = scenario.b_to_a.rate = BitRate::bits_per_second(1'000'000);
  scenario.a_to_b.delay = scenario.b_to_a.delay = Duration::milliseconds(100);
  return experiment;
}

TEST(Bounds, CompletionIsSerialisationPlusDelay) {
  const Experiment experiment = one_megabit();
  const LinkBound bound(experiment, sim::Side::kA, 1'000'000);
  const double payload = 1e6 * (1500.0 - 46) / 1500;
  EXPECT_NEAR(bound.arrival(Duration::seconds(2), 1'000'000).to_seconds(), 2 + 8e6 / payload + 0.1,
              1e-6);
  EXPECT_EQ(bound.arrival(Duration::seconds(2), 0), Duration::milliseconds(2'100));
  EXPECT_NEAR(bound.bits_between(Duration::seconds(1), Duration::seconds(3)), 2 * payload, 1);
}

// An outage of 3 s costs 3 s. Half the rate from then on doubles the time for the rest.
TEST(Bounds, FollowsChangesOfTheLink) {
  Experiment experiment = one_megabit();
  const double payload = 1e6 * (1500.0 - 46) / 1500;
  experiment.changes.push_back({.at = Duration::seconds(1), .outage = true});
  experiment.changes.push_back({.at = Duration::seconds(4),
                                .ways = Ways::kAToB,
                                .rate = BitRate::bits_per_second(500'000),
                                .outage = false});
  const LinkBound forward(experiment, sim::Side::kA, 1'000'000);
  const double left = 8e6 - payload;
  EXPECT_NEAR(forward.arrival(Duration::zero(), 1'000'000).to_seconds(),
              4 + left / (payload / 2) + 0.1, 1e-6);
  // The second change does not name this direction, so the outage never ends here.
  const LinkBound back(experiment, sim::Side::kB, 1'000'000);
  EXPECT_TRUE(back.arrival(Duration::zero(), 1'000'000).is_infinite());
}

}  // namespace
}  // namespace satrelay::satlab::bounds_test
