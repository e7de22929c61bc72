#include "relay/satrelayctl/commands/event_time.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <ctime>

namespace satrelay::ctl::event_time_test {
namespace {

// It is 2026-11-25 14:30:05 in Berlin, an hour ahead of UTC.
class EventTime : public testing::Test {
 protected:
  EventTime() {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
  }
  ~EventTime() override {
    ::unsetenv("TZ");
    ::tzset();
  }
  static std::optional<std::int64_t> ago(std::string_view text) {
    const auto since = parse_since(text, kNow);
    if (!since) return std::nullopt;
    return (static_cast<std::int64_t>(kNow) - static_cast<std::int64_t>(*since)) / 1000;
  }
  static constexpr std::uint64_t kNow = 1'795'613'405'000;
  static constexpr std::int64_t kHour = 3600;
};

TEST_F(EventTime, IsThatOfThisMachine) {
  EXPECT_EQ(moment(kNow), "11-25 14:30:05");
  EXPECT_EQ(moment(kNow + 999), "11-25 14:30:05");
  EXPECT_EQ(moment(0), "01-01 01:00:00");
}

TEST_F(EventTime, ADurationIsSoLongAgo) {
  EXPECT_EQ(ago("10min"), 600);
  EXPECT_EQ(ago("0s"), 0);
  EXPECT_EQ(parse_since("1000000h", kNow), 0U) << "before 1970";
}

TEST_F(EventTime, ATimeIsTheLastOneOfThatName) {
  EXPECT_EQ(ago("14:30:05"), 0);
  EXPECT_EQ(ago("14:30"), 5);
  EXPECT_EQ(ago("14:31"), 24 * kHour - 55) << "of yesterday";
  EXPECT_EQ(ago("00:00"), 14 * kHour + 1805);
}

TEST_F(EventTime, ADateMayHaveATime) {
  EXPECT_EQ(ago("2026-11-25"), 14 * kHour + 1805);
  EXPECT_EQ(ago("2026-11-24 14:30:05"), 24 * kHour);
  EXPECT_EQ(ago("2026-11-24T14:30"), 24 * kHour + 5);
  EXPECT_EQ(ago("2026-10-24 14:30:05"), 32 * 24 * kHour + kHour) << "summer time";
  EXPECT_EQ(ago("2026-11-26"), -(9 * kHour + 1795)) << "of the future";
}

TEST_F(EventTime, AnythingElseIsNone) {
  for (const char* text : {"", "10", "10 days", "-5min", "soon", "24:00", "14:60", "1430",
                           "14:30:60", "14:3", "2026-11", "2026-02-30", "2026-13-01", "2026-00-10",
                           "2026-11-25 ", "2026-11-25x14:30", "2026-11-25 14", "1900-01-01"}) {
    EXPECT_FALSE(parse_since(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace satrelay::ctl::event_time_test
