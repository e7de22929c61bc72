#include "relay/satpanel/alarms/alarm_keeper.h"

#include <gtest/gtest.h>

#include <string>

namespace satrelay::panel::alarm_keeper_test {
namespace {

using Json = nlohmann::ordered_json;

Json event(const std::string& name, const std::string& subject) {
  return {{"name", name}, {"subject", subject}, {"severity", "warning"}, {"boot_epoch", "1"}};
}

TEST(AlarmKeeper, TellsWhatIsWrongAndAboutWhat) {
  AlarmKeeper keeper;
  EXPECT_TRUE(keeper.alarms()->empty());
  keeper.handle_event(event("records_failing", "records file"));
  keeper.handle_event(event("table_full", "gateway"));
  const auto alarms = keeper.alarms();
  ASSERT_EQ(alarms->size(), 2U);
  EXPECT_EQ(alarms->at(0).matter, "records");
  EXPECT_EQ(alarms->at(1).matter, "table_full") << "nothing else tells of the same matter";
  EXPECT_EQ(keeper.alarms(), alarms) << "nothing has changed";
  keeper.handle_event(event("records_resumed", "records file"));
  EXPECT_EQ(keeper.alarms()->size(), 1U);
  EXPECT_EQ(alarms->size(), 2U) << "of who still reads it";
}

TEST(AlarmKeeper, ReadsWhatNoEventTells) {
  AlarmKeeper keeper;
  metrics::Readings gone;
  gone.error = "no gateway is there";
  keeper.handle_readings(gone, 1'000'000);
  EXPECT_TRUE(keeper.alarms()->empty());
  keeper.handle_readings(gone, 1'000'000 + AlarmBook::kPatienceMs);
  ASSERT_EQ(keeper.alarms()->size(), 1U);
  EXPECT_EQ(keeper.alarms()->at(0).name, "gateway_silent");
}

TEST(AlarmKeeper, KeepsTheLatestNoticesForWhoWasAway) {
  AlarmKeeper keeper;
  EXPECT_EQ(keeper.notices(1).next, 1U);
  keeper.handle_event(event("rate_cut", "peer hub"));
  keeper.handle_event(event("rate_restored", "peer hub"));
  auto page = keeper.notices(1);
  ASSERT_EQ(page.notices.size(), 2U);
  EXPECT_FALSE(page.notices[0].is_over);
  EXPECT_TRUE(page.notices[1].is_over);
  EXPECT_EQ(page.next, 3U);
  EXPECT_TRUE(keeper.notices(page.next).notices.empty());
  for (std::size_t i = 0; i < AlarmKeeper::kMostNotices; ++i) {
    keeper.handle_event(event("rate_cut", "peer " + std::to_string(i)));
  }
  page = keeper.notices(1);
  ASSERT_EQ(page.notices.size(), AlarmKeeper::kMostNotices);
  EXPECT_EQ(page.notices[0].alarm.subject, "peer 0");
  EXPECT_EQ(page.next, 3U + AlarmKeeper::kMostNotices);
}

}  // namespace
}  // namespace satrelay::panel::alarm_keeper_test
