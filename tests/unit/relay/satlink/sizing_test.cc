// The memory for frames in flight.
#include "relay/satlink/sizing.h"

#include <gtest/gtest.h>

namespace satrelay::satlink::sizing_test {
namespace {

config::SatLink link_of(std::uint64_t bits_per_second, Duration delay) {
  config::SatLink config;
  config.a_to_b.rate = config.b_to_a.rate = BitRate::bits_per_second(bits_per_second);
  config.a_to_b.delay = config.b_to_a.delay = delay;
  return config;
}

TEST(Sizing, HoldsTheBandwidthDelayProductAndTheQueue) {
  const Sizing giga = size_for(link_of(1'000'000'000, Duration::milliseconds(550)), 2400);
  EXPECT_GE(giga.a_to_b_frames, (68'750'000U + 12'500'000U) / 1538U);
  EXPECT_LE(giga.a_to_b_frames, 70'000U);
  EXPECT_GT(giga.packets, giga.a_to_b_frames + giga.b_to_a_frames);
  const Sizing ten = size_for(link_of(10'000'000'000, Duration::milliseconds(600)), 2400);
  EXPECT_GE(ten.a_to_b_frames, 600'000U);
}

TEST(Sizing, GivesSlowLinksRoomForSmallFrames) {
  const Sizing slow = size_for(link_of(50'000'000, Duration::milliseconds(275)), 2400);
  EXPECT_EQ(slow.a_to_b_frames, 16384U);
  const Sizing slowest = size_for(link_of(1'000'000, Duration::milliseconds(275)), 2400);
  EXPECT_LT(slowest.a_to_b_frames, 3000U);
}

TEST(Sizing, LooksAtTheFastestAndLongestThatTheLinkWillBe) {
  config::SatLink config = link_of(10'000'000, Duration::milliseconds(25));
  const std::size_t before = size_for(config, 2400).a_to_b_frames;
  config.a_to_b.rate_steps = {{Duration::seconds(9), BitRate::bits_per_second(1'000'000'000)}};
  config.a_to_b.delay_steps = {{Duration::seconds(99), Duration::milliseconds(300)}};
  const Sizing sizing = size_for(config, 2400);
  // 37.5 MB are in flight, and 12.5 MB are in the queue, which counts twice.
  EXPECT_GE(sizing.a_to_b_frames, 62'500'000U / 1538);
  EXPECT_EQ(sizing.b_to_a_frames, before);
}

TEST(Sizing, KeepsToTheConfiguredMemory) {
  config::SatLink config = link_of(1'000'000'000, Duration::milliseconds(550));
  config.b_to_a.rate = BitRate::bits_per_second(100'000'000);
  config.memory = ByteCount(24'000'000);
  const Sizing sizing = size_for(config, 2400);
  EXPECT_LE(sizing.a_to_b_frames + sizing.b_to_a_frames, 10'000U);
  EXPECT_GE(sizing.a_to_b_frames + sizing.b_to_a_frames, 9'990U);
  EXPECT_GT(sizing.a_to_b_frames, 3 * sizing.b_to_a_frames);
}

}  // namespace
}  // namespace satrelay::satlink::sizing_test
