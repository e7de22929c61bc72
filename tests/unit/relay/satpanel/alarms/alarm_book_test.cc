#include "relay/satpanel/alarms/alarm_book.h"

#include <gtest/gtest.h>

#include "relay/ops/events/event.h"

namespace satrelay::panel::alarm_book_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kStart = 1'700'000'000'000;

class AlarmBookTest : public testing::Test {
 protected:
  std::vector<AlarmNotice> tell(ops::EventKind kind, const std::string& subject,
                                const std::string& boot_epoch = "1") {
    const ops::EventDescription& event = ops::describe(kind);
    return book_.handle_event({{"number", ++number_},
                               {"time_ms", now_},
                               {"severity", std::string(ops::to_string(event.severity))},
                               {"name", std::string(event.name)},
                               {"subject", subject},
                               {"text", std::string(event.text)},
                               {"boot_epoch", boot_epoch}});
  }
  std::vector<AlarmNotice> tell_fault(ops::EventKind kind, const std::string& subject,
                                      const std::string& check, const char* severity = "warning") {
    return book_.handle_event({{"number", ++number_},
                               {"time_ms", now_},
                               {"severity", severity},
                               {"name", std::string(ops::describe(kind).name)},
                               {"subject", subject},
                               {"text", std::string(ops::describe(kind).text)},
                               {"advice", "cure"},
                               {"check", check},
                               {"boot_epoch", "1"}});
  }
  std::vector<AlarmNotice> read(const char* peer, const char* port, bool up = true) {
    metrics::Readings readings;
    readings.up = up;
    readings.error = up ? "" : "no gateway is there";
    readings.status = {{"uptime_ms", 60'000U}};
    readings.peers = Json::array();
    readings.peers.push_back({{"name", "hub"}, {"state", peer}});
    readings.ports = {{"lan", {{"link", port}}}};
    return book_.handle_readings(readings, now_);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Alarm& alarm : book_.alarms()) names.push_back(alarm.name);
    return names;
  }
  using Names = std::vector<std::string>;

  AlarmBook book_;
  std::uint64_t now_ = kStart;
  std::uint64_t number_ = 0;
};

TEST_F(AlarmBookTest, APeerHasOneAlarmThatGrowsWorseAndEnds) {
  auto notices = tell(ops::EventKind::kPeerSilent, "peer hub");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(notices[0].is_over);
  const std::uint32_t index = notices[0].alarm.index;
  now_ += 1000;
  notices = tell(ops::EventKind::kPeerLost, "peer hub");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].alarm.index, index);
  EXPECT_EQ(names(), Names{"peer_lost"});
  EXPECT_TRUE(tell(ops::EventKind::kPeerAlive, "peer other").empty());
  notices = tell(ops::EventKind::kPeerAlive, "peer hub");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].is_over);
  EXPECT_EQ(notices[0].alarm.name, "peer_alive");
  EXPECT_EQ(notices[0].alarm.index, index);
  EXPECT_TRUE(book_.alarms().empty());
  EXPECT_NE(tell(ops::EventKind::kPeerLost, "peer hub")[0].alarm.index, index);
}

TEST_F(AlarmBookTest, AFaultIsAnAlarmUntilItsEnd) {
  tell_fault(ops::EventKind::kFault, "port lan", "port_in_bridge", "error");
  tell_fault(ops::EventKind::kFault, "port lan", "port_half_duplex");
  tell_fault(ops::EventKind::kFault, "port wan", "port_half_duplex");
  ASSERT_EQ(book_.alarms().size(), 3U);
  EXPECT_EQ(book_.alarms()[0].severity, "error");
  EXPECT_EQ(book_.alarms()[0].matter, "port_in_bridge");
  now_ += 10 * AlarmBook::kForgottenAfterMs;
  EXPECT_TRUE(read("alive", "up").empty()) << "the gateway does not repeat it";
  const auto notices = tell_fault(ops::EventKind::kFaultOver, "port lan", "port_half_duplex");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].is_over);
  EXPECT_EQ(notices[0].alarm.index, 2U);
  EXPECT_EQ(book_.alarms().size(), 2U);
  EXPECT_TRUE(tell_fault(ops::EventKind::kFaultOver, "port lan", "port_half_duplex").empty());
}

// A fault that says why a peer is silent takes the row of the silence.
TEST_F(AlarmBookTest, TheCauseOfASilenceIsNoSecondAlarm) {
  tell(ops::EventKind::kPeerUnheard, "peer hub");
  auto notices = tell_fault(ops::EventKind::kFault, "peer hub", "peer_misdirected", "error");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].alarm.index, 1U);
  EXPECT_EQ(notices[0].alarm.advice, "cure");
  EXPECT_EQ(names(), Names{"fault"});
  // The cause is not seen any more, and the peer is still silent.
  notices = tell_fault(ops::EventKind::kFaultOver, "peer hub", "peer_misdirected", "info");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_FALSE(notices[0].is_over);
  EXPECT_EQ(names(), Names{"peer_unheard"});
  tell_fault(ops::EventKind::kFault, "peer hub", "peer_one_way", "error");
  EXPECT_TRUE(tell(ops::EventKind::kPeerAlive, "peer hub").at(0).is_over);
  EXPECT_TRUE(tell_fault(ops::EventKind::kFaultOver, "peer hub", "peer_one_way", "info").empty());
  EXPECT_TRUE(book_.alarms().empty());
}

TEST_F(AlarmBookTest, EachWayOfRecordsHasAnAlarmOfItsOwn) {
  tell(ops::EventKind::kRecordsFailing, "records file");
  tell(ops::EventKind::kRecordsFailing, "records collector");
  tell(ops::EventKind::kRecordsLost, "records writer");
  now_ += AlarmBook::kForgottenAfterMs + 1;
  EXPECT_EQ(read("alive", "up").size(), 1U) << "records that were lost once";
  EXPECT_EQ(tell(ops::EventKind::kRecordsResumed, "records file").size(), 1U);
  EXPECT_EQ(names(), Names{"records_failing"});
  EXPECT_EQ(book_.alarms().at(0).subject, "records collector");
  EXPECT_EQ(tell(ops::EventKind::kRecordsResumed, "records collector").size(), 1U);
  EXPECT_TRUE(book_.alarms().empty());
}

TEST_F(AlarmBookTest, WhatIsNoProblemIsNoAlarm) {
  EXPECT_TRUE(tell(ops::EventKind::kBypassSet, "gateway").empty());
  EXPECT_TRUE(tell(ops::EventKind::kPeerAlive, "peer hub").empty());
  EXPECT_TRUE(book_.handle_event(Json::object()).empty());
  EXPECT_TRUE(book_.alarms().empty());
}

TEST_F(AlarmBookTest, WhatHasNoEndIsForgottenOnceItIsNotToldAgain) {
  tell(ops::EventKind::kFramesMissed, "port wan");
  now_ += AlarmBook::kForgottenAfterMs - 1;
  EXPECT_TRUE(read("alive", "up").empty());
  const auto again = tell(ops::EventKind::kFramesMissed, "port wan");
  EXPECT_EQ(again.at(0).alarm.since_ms, kStart) << "it goes on since then";
  now_ += AlarmBook::kForgottenAfterMs;
  EXPECT_TRUE(read("alive", "up").empty());
  now_ += 1;
  const auto notices = read("alive", "up");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_TRUE(notices[0].is_over);
  // An alarm with an event that ends it stays until that event.
  tell(ops::EventKind::kRateCut, "peer hub");
  now_ += 100 * AlarmBook::kForgottenAfterMs;
  EXPECT_TRUE(read("alive", "up").empty());
  EXPECT_EQ(names(), Names{"rate_cut"});
}

TEST_F(AlarmBookTest, ReadingFindsWhatNoEventHasTold) {
  EXPECT_TRUE(read("wrong_key", "down").empty()) << "the event may be on its way";
  now_ += AlarmBook::kPatienceMs;
  const auto notices = read("wrong_key", "down");
  EXPECT_EQ(notices.size(), 2U);
  EXPECT_EQ(names(), (Names{"peer_wrong_key", "port_down"}));
  EXPECT_EQ(notices[0].alarm.advice, ops::describe(ops::EventKind::kPeerWrongKey).advice);
  EXPECT_TRUE(read("alive", "up").empty());
  now_ += AlarmBook::kPatienceMs;
  EXPECT_EQ(read("alive", "up").size(), 2U);
  EXPECT_TRUE(book_.alarms().empty());
}

TEST_F(AlarmBookTest, ReadingAndEventsTellAnAlarmOnce) {
  read("suspect", "up");
  now_ += 1000;
  EXPECT_EQ(tell(ops::EventKind::kPeerSilent, "peer hub").size(), 1U);
  now_ += AlarmBook::kPatienceMs;
  EXPECT_TRUE(read("suspect", "up").empty());
  now_ += AlarmBook::kPatienceMs;
  EXPECT_TRUE(read("suspect", "up").empty());
  EXPECT_EQ(names(), Names{"peer_silent"});
}

TEST_F(AlarmBookTest, AGatewayThatDoesNotAnswerIsAnAlarm) {
  book_.handle_readings({}, now_);  // no reader has tried yet
  now_ += 60'000;
  EXPECT_TRUE(book_.handle_readings({}, now_).empty());
  read("alive", "up", false);
  now_ += AlarmBook::kPatienceMs;
  EXPECT_EQ(read("alive", "up", false).size(), 1U);
  EXPECT_EQ(names(), Names{"gateway_silent"});
  read("alive", "up");
  now_ += AlarmBook::kPatienceMs;
  const auto notices = read("alive", "up");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].alarm.name, "gateway_answers");
}

TEST_F(AlarmBookTest, ANewStartOfTheGatewayEndsThemAll) {
  tell(ops::EventKind::kPeerLost, "peer hub");
  tell(ops::EventKind::kMemoryLow, "gateway");
  const auto notices = tell(ops::EventKind::kPortDown, "port lan", "2");
  ASSERT_EQ(notices.size(), 3U);
  EXPECT_TRUE(notices[0].is_over && notices[1].is_over && !notices[2].is_over);
  EXPECT_EQ(names(), Names{"port_down"});
}

}  // namespace
}  // namespace satrelay::panel::alarm_book_test
