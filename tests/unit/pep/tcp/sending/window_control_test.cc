// The life of a window controller.
#include "pep/tcp/sending/window_control.h"

#include <gtest/gtest.h>

#include "tests/unit/pep/tcp/sending/parts.h"

namespace satrelay::tcp::test::window_control_test {
namespace {

constexpr std::uint32_t kSegment = 1000;
constexpr std::uint64_t kInitial = 10 * kSegment;

WindowControl established() {
  WindowControl control;
  control.establish(control::Congestion::kNewReno, kSegment);
  return control;
}
control::AckSample ack_of(std::uint64_t bytes) {
  control::AckSample sample;
  sample.newly_acknowledged = bytes;
  sample.bytes_in_flight = kInitial;
  return sample;
}

TEST(WindowControl, IsTheInitialWindowUntilTheFirstSample) {
  EXPECT_EQ(WindowControl().window(), 0u);
  WindowControl control = established();
  EXPECT_EQ(control.window(), kInitial);
  control.on_ack(ack_of(kInitial));
  EXPECT_EQ(control.window(), 2 * kInitial);
}

TEST(WindowControl, AllowsTheFirstSegmentWhateverItsSize) {
  const WindowControl control = established();
  EXPECT_TRUE(control.allows(0, 2 * kInitial));
  EXPECT_TRUE(control.allows(kInitial - kSegment, kSegment));
  EXPECT_FALSE(control.allows(kInitial - kSegment, kSegment + 1));
}

TEST(WindowControl, TellsThePeerOnceOfAReduction) {
  WindowControl control = established();
  control.on_loss({kInitial, at_ms(0)});
  EXPECT_LT(control.window(), kInitial);
  EXPECT_TRUE(control.has_reduction_to_tell());
  EXPECT_TRUE(control.take_reduction_to_tell());
  EXPECT_FALSE(control.take_reduction_to_tell());
}

TEST(WindowControl, EchoInRecoveryReducesNothingMore) {
  WindowControl control = established();
  control.on_congestion_echo({kInitial, at_ms(0)}, true);
  EXPECT_EQ(control.window(), kInitial);
  EXPECT_TRUE(control.take_reduction_to_tell());
}

TEST(WindowControl, RestartsAfterAnIdleTimeout) {
  WindowControl control = established();
  control.on_ack(ack_of(kInitial));
  control.on_sent(at_ms(0));
  control.on_restart(Duration::milliseconds(300), at_ms(300));
  EXPECT_EQ(control.window(), 2 * kInitial);
  control.on_restart(Duration::milliseconds(300), at_ms(301));
  EXPECT_EQ(control.window(), kInitial);
}

TEST(WindowControl, TrimKeepsWhatALossTaught) {
  WindowControl control = established();
  control.on_ack(ack_of(kInitial));
  control.trim();
  EXPECT_EQ(control.window(), kInitial);
  control.on_loss({kInitial, at_ms(0)});
  const std::uint64_t reduced = control.window();
  control.trim();
  EXPECT_EQ(control.window(), reduced);
}

}  // namespace
}  // namespace satrelay::tcp::test::window_control_test
