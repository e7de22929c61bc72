// Bursts over a link of a given rate, modeled by plain arithmetic.
#include "pep/control/capacity/room_probes.h"

#include <gtest/gtest.h>

#include <optional>

namespace satrelay::control::test::room_probes_test {
namespace {

constexpr ByteCount kPacket = ByteCount(1500);
constexpr Duration kPath = Duration::milliseconds(300);
constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }

class RoomProbesTest : public ::testing::Test {
 protected:
  // A burst of ten packets at 50 Mbit/s by a sender that has 5 Mbit/s. Returns the rate that it
  // shows of `link`.
  std::optional<BitRate> burst(BitRate link, Duration path_behind = kPath, std::uint64_t lost = 0) {
    const Duration time = link.time_for(kPacket);
    probes.order({.length = kPacket * 10,
                  .mean = megabit(5),
                  .gap = Duration::milliseconds(3),
                  .delay = kPath + time});
    const Instant began = now;
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(probes.leaves());
      now = began + megabit(50).time_for(kPacket) * i;
      probes.on_sent(number++, kPacket, now);
    }
    EXPECT_FALSE(probes.leaves());
    EXPECT_EQ(probes.rests_until(), began + megabit(5).time_for(kPacket * 10));
    EXPECT_TRUE(probes.take_question());
    EXPECT_FALSE(probes.take_question());
    FeedbackSample last;
    last.number = number - 1;
    last.sent = now;
    last.arrived = later(began + time * 10, now + time) + kPath;
    last.packets_delivered = 10 - lost;
    last.packets_lost = lost;
    EXPECT_FALSE(probes.on_feedback(last, 0));
    now = began + Duration::milliseconds(50);
    FeedbackSample behind;
    behind.number = number++;
    behind.sent = now;
    behind.arrived = now + path_behind + time;
    return probes.on_feedback(behind, 0);
  }
  RoomProbes probes;
  Instant now = Instant() + Duration::seconds(1);
  std::uint64_t number = 1;
};

TEST_F(RoomProbesTest, ABurstShowsWhatTheLinkCarries) {
  for (const std::uint64_t rate : {5U, 10U, 25U, 40U}) {
    const auto shown = burst(megabit(rate));
    ASSERT_TRUE(shown);
    EXPECT_NEAR(static_cast<double>(shown->to_bits_per_second()) / 1e6, static_cast<double>(rate),
                0.01);
  }
}

TEST_F(RoomProbesTest, AShorterPathIsNoFasterLink) {
  const auto shown = burst(megabit(5), kPath - Duration::milliseconds(20));
  ASSERT_TRUE(shown);
  EXPECT_LT(*shown, megabit(5));
}

TEST_F(RoomProbesTest, AFullQueueShowsNothing) {
  EXPECT_TRUE(burst(megabit(50), kPath, 2));
  EXPECT_FALSE(burst(megabit(50), kPath, 5));
}

TEST_F(RoomProbesTest, AHostWithLittleToSendShowsLittle) {
  probes.order({.length = kPacket * 10,
                .mean = megabit(5),
                .gap = Duration::milliseconds(3),
                .delay = kPath});
  probes.on_sent(number++, kPacket, now);
  now += Duration::milliseconds(4);
  probes.on_sent(number++, kPacket, now);
  EXPECT_FALSE(probes.leaves());
}

}  // namespace
}  // namespace satrelay::control::test::room_probes_test
