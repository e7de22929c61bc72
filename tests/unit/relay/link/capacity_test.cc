// How much memory a link uses.
#include "relay/link/capacity.h"

#include <gtest/gtest.h>

#include "tests/unit/relay/link/harness.h"

namespace satrelay::link::capacity_test {
namespace {

// At one frame a millisecond, a full frame (1538 accounted bytes) takes a millisecond.
constexpr std::uint64_t kFrameBits = 1538 * 8;
BitRate frames_per_millisecond(std::uint64_t n) {
  return BitRate::bits_per_second(n * kFrameBits * 1000);
}
Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

config::LinkDirection plain() {
  config::LinkDirection config;
  config.rate = frames_per_millisecond(1);
  config.delay = ms(20);
  config.queue = ByteCount(std::uint64_t{1} << 20);
  return config;
}

TEST(LinkCapacity, FollowsFromTheLargestRateAndDelay) {
  config::LinkDirection config = plain();
  config.rate = BitRate::bits_per_second(80'000'000);
  config.delay = ms(100);
  config.queue = ByteCount(500'000);
  const CapacityRule rule{.smallest_frame = 1000, .if_unlimited = 77, .at_least = 10};
  EXPECT_EQ(frames_in_flight(config, rule), 1500U);
  config.delay_steps = {{ms(1), ms(300)}};
  EXPECT_EQ(frames_in_flight(config, rule), 3500U);
  config.rate_steps = {{ms(1), BitRate::bits_per_second(160'000'000)}};
  EXPECT_EQ(frames_in_flight(config, rule), 6500U);
  config.rate_steps.push_back({ms(2), BitRate()});
  EXPECT_EQ(frames_in_flight(config, rule), 77U);
}

}  // namespace
}  // namespace satrelay::link::capacity_test
