// How long frames may have waited at a port.
#include "relay/satrelayd/workers/poll_gap.h"

#include <gtest/gtest.h>

namespace satrelay::satrelayd::poll_gap_test {
namespace {

constexpr Instant at(std::int64_t us) { return Instant::from_nanoseconds(us * 1'000); }
constexpr Duration us(std::int64_t n) { return Duration::microseconds(n); }

TEST(PollGap, APauseIsSeenByWhatComesNext) {
  PollGap port;
  port.on_received(0, 32, at(1'000), at(1'000));
  EXPECT_EQ(port.on_received(3, 32, at(1'010), at(1'011)), us(11));
  // 50 ms later there are more frames than the worker can take at once.
  EXPECT_EQ(port.on_received(32, 32, at(51'000), at(51'001)), us(49'991));
  EXPECT_EQ(port.on_received(32, 32, at(51'020), at(51'021)), us(50'011));
  EXPECT_EQ(port.on_received(5, 32, at(51'040), at(51'041)), us(50'031));
  EXPECT_EQ(port.on_received(5, 32, at(51'060), at(51'061)), us(21));
}

TEST(PollGap, ARestIsNoPause) {
  PollGap port;
  port.on_received(0, 32, at(0), at(0));
  port.on_rest(us(200'000));
  EXPECT_EQ(port.on_received(1, 32, at(200'010), at(200'011)), us(11));
  // The worker planned to rest for 50 us. The machine let it run again after 30 ms.
  port.on_received(0, 32, at(200'050), at(200'050));
  port.on_rest(us(50));
  EXPECT_EQ(port.on_received(9, 32, at(230'050), at(230'050)), us(29'950));
  // Something else stopped the worker before its rest.
  port.on_received(0, 32, at(300'000), at(300'000));
  port.on_rest(us(50));
  EXPECT_EQ(port.on_received(9, 32, at(340'050), at(340'050)), us(40'000));
}

TEST(PollGap, WhoRestsWhileFramesWaitMakesThemWait) {
  PollGap port;
  port.on_received(32, 32, at(0), at(0));
  port.on_rest(us(1'000));
  EXPECT_EQ(port.on_received(1, 32, at(1'000), at(1'000)), us(1'000));
}

}  // namespace
}  // namespace satrelay::satrelayd::poll_gap_test
