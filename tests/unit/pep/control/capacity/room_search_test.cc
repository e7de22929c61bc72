// When the guard looks for room, and how far a burst raises the rate.
#include "pep/control/capacity/room_search.h"

#include <gtest/gtest.h>

namespace satrelay::control::test::room_search_test {
namespace {

constexpr BitRate megabit(std::uint64_t n) { return BitRate::bits_per_second(n * 1'000'000); }
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }
constexpr Instant at(std::int64_t n) { return Instant() + ms(n); }
constexpr RoomSearch::Rates kRates = {megabit(2), megabit(10), megabit(10)};

DelayTrend delays(std::int64_t now) {
  DelayTrend trend({ms(20), 1, ms(32)});
  trend.add({at(now - 500), at(now - 250), ByteCount(0)});
  return trend;
}

TEST(RoomSearch, TheFirstBurstWaitsForARoundTrip) {
  RoomSearch room;
  room.on_cut(true, ms(500), at(1000));
  room.begin(ms(500), at(2000));
  room.probe(kRates, delays(2499), at(2499));
  EXPECT_FALSE(room.probes().leaves());
  room.probe(kRates, delays(2500), at(2500));
  EXPECT_TRUE(room.probes().leaves());
}

TEST(RoomSearch, AnUnknownDelayOrdersNoBurst) {
  RoomSearch room;
  room.begin(ms(500), at(2000));
  room.probe(kRates, DelayTrend({ms(20), 1, ms(32)}), at(3000));
  EXPECT_FALSE(room.probes().leaves());
}

TEST(RoomSearch, ACutSoonAfterARiseMakesItCareful) {
  RoomSearch room;
  room.on_start(ByteCount(1500));
  room.on_cut(true, ms(500), at(1000));
  EXPECT_EQ(room.pace().patience, ms(300));
  room.begin(ms(500), at(1000));
  room.probe(kRates, delays(2000), at(2000));
  // The burst arrives as fast as it left: there is room.
  std::uint64_t number = 0;
  for (std::int64_t now = 2000; room.probes().leaves(); ++now) {
    room.on_sent(number++, ByteCount(1500), at(now));
  }
  FeedbackSample sample;
  sample.number = number - 1;
  sample.sent = at(2000 + static_cast<std::int64_t>(number) - 1);
  sample.arrived = sample.sent + ms(250);
  sample.packets_delivered = number;
  sample.now = at(2600);
  EXPECT_FALSE(room.on_feedback(sample, kRates, 0)) << "its losses are not known yet";
  sample.sent = at(2600);
  sample.arrived = at(2850);
  sample.number = number;
  sample.now = at(3100);
  const auto better = room.on_feedback(sample, kRates, 0);
  ASSERT_TRUE(better);
  EXPECT_GT(*better, megabit(8));
  room.on_cut(true, ms(500), at(4000));
  EXPECT_EQ(room.pace().step, 25U);
  EXPECT_EQ(room.pace().patience, ms(600));
}

}  // namespace
}  // namespace satrelay::control::test::room_search_test
