#include "relay/gateway/addresses/far/far_services.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::far_services_test {
namespace {

using Outcome = FarServices::Outcome;

FlowKey connection(const char* client, const char* server, std::uint16_t port,
                   std::uint16_t vlan = 0) {
  return {ip_of(client), ip_of(server), 40'000, port, {vlan}};
}

class FarServicesTest : public ::testing::Test {
 protected:
  FarServices services_{{3, 5}};
  Instant now_ = Instant() + Duration::seconds(100'000);
};

TEST_F(FarServicesTest, KeepsTheLatestOutcomeOfEachForADay) {
  const FlowKey web = connection("10.0.0.1", "198.51.100.5", 80);
  EXPECT_EQ(services_.latest(web, now_), std::nullopt);
  EXPECT_TRUE(services_.note(web, Outcome::kRefused, now_));
  EXPECT_FALSE(services_.note(web, Outcome::kRefused, now_)) << "no news";
  EXPECT_EQ(services_.latest(web, now_), Outcome::kRefused);
  EXPECT_TRUE(services_.note(web, Outcome::kAccepted, now_));
  EXPECT_EQ(services_.latest(web, now_ + Duration::seconds(86'400)), Outcome::kAccepted);
  EXPECT_EQ(services_.latest(web, now_ + Duration::seconds(90'000 + 3'600)), std::nullopt);
}

TEST_F(FarServicesTest, AServiceIsAnAddressAndAPortWhoeverAsks) {
  services_.note(connection("10.0.0.1", "198.51.100.5", 80), Outcome::kRefused, now_);
  EXPECT_EQ(services_.latest(connection("10.0.0.9", "198.51.100.5", 80), now_), Outcome::kRefused);
  EXPECT_EQ(services_.latest(connection("10.0.0.1", "198.51.100.5", 81), now_), std::nullopt);
  EXPECT_EQ(services_.latest(connection("10.0.0.1", "198.51.100.6", 80), now_), std::nullopt);
  // Another customer may have the same addresses in another VLAN.
  EXPECT_EQ(services_.latest(connection("10.0.0.1", "198.51.100.5", 80, 7), now_), std::nullopt);
}

TEST_F(FarServicesTest, HasAFixedNumberOfPlaces) {
  const FlowKey first = connection("10.0.0.1", "198.51.100.5", 80);
  services_.note(first, Outcome::kRefused, now_);
  for (unsigned i = 0; i < 8 * FarServices::kPlaces; ++i) {
    FlowKey other = first;
    other.remote = IpAddress::v4({10, static_cast<std::uint8_t>(i >> 16),
                                  static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
    services_.note(other, Outcome::kRefused, now_ + Duration::seconds(7'200));
  }
  EXPECT_EQ(services_.latest(first, now_), std::nullopt) << "it was heard first, and gave way";
}

}  // namespace
}  // namespace satrelay::gateway::far_services_test
