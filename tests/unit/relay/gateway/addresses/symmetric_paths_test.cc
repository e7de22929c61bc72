#include "relay/gateway/addresses/symmetric_paths.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/gateway/frame_builder.h"

namespace satrelay::gateway::symmetric_paths_test {
namespace {

using Silence = SymmetricPaths::Silence;

FlowKey connection(const char* client, const char* server, std::uint16_t port,
                   std::uint16_t vlan = 0) {
  return {ip_of(client), ip_of(server), 40'000, port, {vlan}};
}

FlowKey numbered(unsigned i) {
  FlowKey key = connection("10.0.0.1", "198.51.100.5", 80);
  key.remote = IpAddress::v4({10, static_cast<std::uint8_t>(i >> 16),
                              static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)});
  return key;
}

class SymmetricPathsTest : public ::testing::Test {
 protected:
  SymmetricPaths paths_{{3, 5}};
  Instant now_ = Instant() + Duration::seconds(100'000);
  const FlowKey web_ = connection("10.0.0.1", "198.51.100.5", 80);
  const FlowKey filtered_ = connection("10.0.0.1", "198.51.100.5", 443);
};

TEST_F(SymmetricPathsTest, APairThatHasNeverAnsweredIsDoubtfulForFiveMinutes) {
  EXPECT_FALSE(paths_.is_doubtful(web_, now_));
  paths_.note_silence(filtered_, Silence::kUnexplained, now_);
  EXPECT_TRUE(paths_.is_doubtful(web_, now_)) << "whatever the port";
  EXPECT_FALSE(paths_.is_doubtful(connection("10.0.0.9", "198.51.100.5", 80), now_));
  EXPECT_FALSE(paths_.is_doubtful(connection("10.0.0.1", "198.51.100.6", 80), now_));
  EXPECT_FALSE(paths_.is_doubtful(connection("10.0.0.1", "198.51.100.5", 80, 7), now_));
  EXPECT_TRUE(paths_.is_doubtful(web_, now_ + Duration::seconds(299)));
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(300)));
}

TEST_F(SymmetricPathsTest, APortsSilenceIsItsOwnWhereThePairHasAnswered) {
  paths_.note_answer(web_, now_);
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(3'000));
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(3'000)));
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(3'700));
  EXPECT_TRUE(paths_.is_doubtful(web_, now_ + Duration::seconds(3'700))) << "that was long ago";
}

TEST_F(SymmetricPathsTest, AnAnswerEndsTheDoubtAtOnce) {
  paths_.note_silence(filtered_, Silence::kUnexplained, now_);
  paths_.note_answer(web_, now_);
  EXPECT_FALSE(paths_.is_doubtful(web_, now_));
}

TEST_F(SymmetricPathsTest, AnAnswerByAnotherWayOutweighsEarlierOnes) {
  paths_.note_answer(web_, now_);
  paths_.note_silence(filtered_, Silence::kElsewhere, now_);
  EXPECT_TRUE(paths_.is_doubtful(web_, now_));
}

// Routes may differ from flow to flow.
TEST_F(SymmetricPathsTest, NorDoLaterOnesEndThatForFiveMinutes) {
  paths_.note_silence(filtered_, Silence::kElsewhere, now_);
  paths_.note_answer(web_, now_ + Duration::seconds(10));
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(20));
  EXPECT_TRUE(paths_.is_doubtful(web_, now_ + Duration::seconds(299)));
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(300)));
  paths_.note_answer(web_, now_ + Duration::seconds(300));
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(301));
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(301)));
}

// A host tries very many addresses that no host has.
TEST_F(SymmetricPathsTest, NoSilencePushesOutAPairThatHasAnswered) {
  paths_.note_answer(web_, now_);
  for (unsigned i = 0; i < 8 * SymmetricPaths::kPlaces; ++i) {
    paths_.note_silence(numbered(i), Silence::kUnexplained, now_ + Duration::seconds(60));
  }
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(60));
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(60)));
}

TEST_F(SymmetricPathsTest, APairThatWasPushedOutCountsAsOneThatHasNeverAnswered) {
  paths_.note_answer(web_, now_);
  for (unsigned i = 0; i < 8 * SymmetricPaths::kPlaces; ++i) {
    paths_.note_answer(numbered(i), now_ + Duration::seconds(60));
  }
  EXPECT_FALSE(paths_.is_doubtful(web_, now_ + Duration::seconds(60)));
  paths_.note_silence(filtered_, Silence::kUnexplained, now_ + Duration::seconds(60));
  EXPECT_TRUE(paths_.is_doubtful(web_, now_ + Duration::seconds(60)));
}

}  // namespace
}  // namespace satrelay::gateway::symmetric_paths_test
