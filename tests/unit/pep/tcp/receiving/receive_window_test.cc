// The window that an endpoint advertises.
#include "pep/tcp/receiving/receive_window.h"

#include <gtest/gtest.h>

#include "pep/base/random.h"

namespace satrelay::tcp::test::receive_window_test {
namespace {

TEST(ReceiveWindow, NeverRetreatsByMoreThanRoundingAndNeverCreeps) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t limit = 1 + random.below(200'000);
    const auto scale = static_cast<std::uint8_t>(random.below(15));
    const std::uint64_t unit = std::uint64_t{1} << scale;
    ReceiveWindow window(limit);
    window.set_scale(scale);
    window.set_segment_size(1460);
    ReceiveWindow::Memory memory{0, 0, 1U << 30};
    std::uint64_t highest = 0;
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t edge = memory.next + (std::uint64_t{window.advertise(memory)} << scale);
      ASSERT_GT(edge + unit, highest);
      if (scale == 0) {
        ASSERT_GE(edge, highest);
      }
      ASSERT_LT(edge, memory.consumed + limit + unit);
      ASSERT_LE(edge, window.edge());
      highest = std::max(highest, edge);
      if (random.chance(0.7)) {
        memory.next += random.below(std::min<std::uint64_t>(window.edge() - memory.next, 3000) + 1);
      }
      if (random.chance(0.5)) memory.consumed += random.below(memory.next - memory.consumed + 1);
    }
    // Once all bytes are consumed, the window is open, whatever happened before.
    memory.consumed = memory.next;
    EXPECT_TRUE(window.advertise(memory) > 0);
  }
}

TEST(ReceiveWindow, UpdateIsDueExactlyWhenAClosedWindowReopens) {
  ReceiveWindow window(10'000);
  window.set_segment_size(1460);
  ASSERT_EQ(window.advertise({0, 0, 1U << 30}), 10'000);
  ASSERT_EQ(window.advertise({10'000, 0, 1U << 30}), 0);
  EXPECT_FALSE(window.update_due({10'000, 1459, 1U << 30}));
  EXPECT_TRUE(window.update_due({10'000, 1460, 1U << 30}));
}

TEST(ReceiveWindow, ScarceMemoryShrinksIt) {
  ReceiveWindow window(100'000);
  window.set_segment_size(1460);
  EXPECT_EQ(window.advertise({0, 0, 8000}), 8000);
  EXPECT_EQ(window.advertise({8000, 8000, 0}), 0);
  EXPECT_EQ(window.advertise({8000, 8000, 4000}), 4000);
}

}  // namespace
}  // namespace satrelay::tcp::test::receive_window_test
