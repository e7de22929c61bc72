#include "relay/ops/events/episode.h"

#include <gtest/gtest.h>

namespace satrelay::ops::episode_test {
namespace {

using Change = Episode::Change;

class EpisodeTest : public testing::Test {
 protected:
  Change look(std::uint64_t grows, Duration passes) {
    now_ = now_ + passes;
    value_ += grows;
    return episode_.look(value_, now_);
  }
  static constexpr Duration kSecond = Duration::seconds(1);

  Instant now_ = Instant::from_nanoseconds(1);
  std::uint64_t value_ = 0;
  Episode episode_{{.begins_after = Duration::seconds(3),
                    .pause = Duration::seconds(2),
                    .over_after = Duration::seconds(10)}};
};

TEST_F(EpisodeTest, BeginsOnceACounterHasGrownForSoLongAndEndsLongAfter) {
  EXPECT_EQ(look(0, kSecond), Change::kNone);
  EXPECT_EQ(look(5, kSecond), Change::kNone);
  EXPECT_EQ(look(0, kSecond), Change::kNone);
  EXPECT_EQ(look(5, kSecond), Change::kNone);
  EXPECT_EQ(look(5, kSecond), Change::kBegun);
  EXPECT_EQ(look(5, kSecond), Change::kNone);
  EXPECT_EQ(look(0, kSecond * 9), Change::kNone);
  EXPECT_EQ(look(5, kSecond), Change::kNone) << "a long pause is no end";
  EXPECT_EQ(look(0, kSecond * 9), Change::kNone);
  EXPECT_EQ(look(0, kSecond), Change::kOver);
  EXPECT_EQ(episode_.grown(), 25U);
  EXPECT_EQ(episode_.lasted(), kSecond * 14);
  EXPECT_EQ(look(0, kSecond * 100), Change::kNone);
}

TEST_F(EpisodeTest, ASecondOneIsCountedByItself) {
  look(5, kSecond);
  for (int i = 0; i < 3; ++i) look(5, kSecond);
  EXPECT_EQ(look(0, kSecond * 10), Change::kOver);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look(1, kSecond), Change::kNone);
  EXPECT_EQ(look(1, kSecond), Change::kBegun);
  EXPECT_EQ(episode_.grown(), 4U);
}

TEST_F(EpisodeTest, MomentsFarApartAreNone) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(look(5, kSecond * 3), Change::kNone);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(look(5, kSecond), Change::kNone);
    EXPECT_EQ(look(0, kSecond * 4), Change::kNone);
  }
}

}  // namespace
}  // namespace satrelay::ops::episode_test
