#include "relay/gateway/addresses/far/far_families.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::far_families_test {
namespace {

class FarFamiliesTest : public ::testing::Test {
 protected:
  bool silence(const char* server) {
    return families_.note_silence(FarGatewayId(1), ip_of(server), now_);
  }
  void answer(const char* server) { families_.note_answer(FarGatewayId(1), ip_of(server), now_); }
  bool is_silent(const char* server) const {
    return families_.is_silent(FarGatewayId(1), ip_of(server), now_);
  }

  FarFamilies families_{{3, 5}, 2};
  Instant now_ = Instant() + Duration::seconds(100'000);
};

TEST_F(FarFamiliesTest, ThreeServersOfDifferentNetworksThatDoNotAnswerMakeItSilent) {
  EXPECT_FALSE(silence("2001:db8:0:1::1"));
  EXPECT_FALSE(silence("2001:db8:0:1::2")) << "the same network";
  EXPECT_FALSE(silence("2001:db8:0:2::1"));
  EXPECT_FALSE(is_silent("2001:db8:0:9::1"));
  EXPECT_TRUE(silence("2001:db8:0:3::1"));
  EXPECT_TRUE(is_silent("2001:db8:0:9::1")) << "any server";
  EXPECT_FALSE(is_silent("198.51.100.5")) << "of that family";
  EXPECT_FALSE(families_.is_silent(FarGatewayId(0), ip_of("2001:db8:0:9::1"), now_))
      << "behind that peer";
  EXPECT_FALSE(silence("2001:db8:0:4::1")) << "no news";
}

TEST_F(FarFamiliesTest, ThoseOfIpv4AreNetworksOf256) {
  EXPECT_FALSE(silence("198.51.100.1"));
  EXPECT_FALSE(silence("198.51.100.2"));
  EXPECT_FALSE(silence("198.51.101.1"));
  EXPECT_TRUE(silence("198.51.102.1"));
}

TEST_F(FarFamiliesTest, OneAnswerEndsIt) {
  silence("198.51.100.1");
  silence("198.51.101.1");
  ASSERT_TRUE(silence("198.51.102.1"));
  answer("203.0.113.1");
  EXPECT_FALSE(is_silent("198.51.100.1"));
  EXPECT_FALSE(silence("198.51.103.1")) << "for five minutes at least";
  now_ += FarFamilies::kWithin;
  EXPECT_FALSE(silence("198.51.100.1")) << "and what was before counts no more";
  EXPECT_FALSE(silence("198.51.101.1"));
  EXPECT_TRUE(silence("198.51.102.1"));
}

TEST_F(FarFamiliesTest, TheThreeAreOfFiveMinutes) {
  silence("198.51.100.1");
  silence("198.51.101.1");
  now_ += FarFamilies::kWithin;
  EXPECT_FALSE(silence("198.51.102.1"));
  EXPECT_FALSE(silence("198.51.103.1"));
  EXPECT_TRUE(silence("198.51.104.1"));
}

TEST_F(FarFamiliesTest, ItIsTriedAnewAfterADayWithoutNews) {
  silence("198.51.100.1");
  silence("198.51.101.1");
  silence("198.51.102.1");
  now_ += Duration::seconds(80'000);
  silence("198.51.102.1");
  now_ += Duration::seconds(80'000);
  EXPECT_TRUE(is_silent("198.51.100.1")) << "that was news";
  now_ += Duration::seconds(6'401);
  EXPECT_FALSE(is_silent("198.51.100.1"));
}

}  // namespace
}  // namespace satrelay::gateway::far_families_test
