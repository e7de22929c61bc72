// How late packets arrive that later ones have overtaken.
#include "pep/stp/numbers/arrival_order.h"

#include <gtest/gtest.h>

namespace satrelay::stp::arrival_order_test {
namespace {

constexpr Instant at(std::int64_t ms) { return Instant::from_nanoseconds(ms * 1'000'000); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

TEST(ArrivalOrderTest, MeasuresHowLongAgoAPacketWasOvertaken) {
  ArrivalOrder order;
  for (std::uint64_t n = 0; n < 100; ++n) order.on_progress(n + 1, at(static_cast<int>(n)));
  EXPECT_EQ(order.lateness(at(100)), Duration::zero());
  order.on_late(89, at(100));  // packet 90 arrived at 90 ms
  EXPECT_GE(order.lateness(at(100)), ms(10));
  EXPECT_LE(order.lateness(at(100)), ms(12));
  order.on_late(97, at(101));  // less late: the largest lateness counts
  EXPECT_GE(order.lateness(at(101)), ms(10));
}

TEST(ArrivalOrderTest, ForgetsAfterAMinute) {
  ArrivalOrder order;
  order.on_progress(10, at(40'000));
  order.on_late(5, at(40'008));
  EXPECT_GT(order.lateness(at(69'000)), Duration::zero());
  EXPECT_EQ(order.lateness(at(140'000)), Duration::zero());
}

TEST(ArrivalOrderTest, APacketThatIsVeryLateTellsNothing) {
  ArrivalOrder order;
  order.on_progress(10, at(0));
  order.on_late(5, at(400));
  EXPECT_EQ(order.lateness(at(400)), Duration::zero());
}

}  // namespace
}  // namespace satrelay::stp::arrival_order_test
