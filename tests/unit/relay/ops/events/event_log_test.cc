#include "relay/ops/events/event_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace satrelay::ops::event_log_test {
namespace {

class EventLogTest : public testing::Test {
 protected:
  void tell(EventKind kind, const std::string& subject, std::string detail = "") {
    log_.tell({kind, subject, std::move(detail)});
  }
  std::vector<std::string> write(Duration passes = Duration::zero()) {
    now_ = now_ + passes;
    lines_.clear();
    log_.write(now_);
    return lines_;
  }
  std::vector<NumberedEvent> kept() const { return ring_.from(0, EventRing::kMostEvents); }
  std::string field(std::string_view name) const {
    for (const LogField& field : fields_) {
      if (field.name == name) return field.value;
    }
    return "none";
  }

  static constexpr std::uint32_t kBurst = EventLog::kLines.burst;
  Instant now_ = Instant::from_nanoseconds(1);
  std::uint64_t time_ms_ = 1'764'082'060'000;
  std::vector<std::string> lines_;
  std::vector<config::LogLevel> levels_;
  std::vector<LogField> fields_;  // of the last line
  EventRing ring_{77};
  EventLog log_{ring_,
                {.log =
                     [this](config::LogLevel level, const std::string& line,
                            std::span<const LogField> fields) {
                       levels_.push_back(level);
                       lines_.push_back(line);
                       fields_.assign(fields.begin(), fields.end());
                     },
                 .time_ms = [this] { return time_ms_; },
                 .name_of_user =
                     [](std::uint32_t user) { return user == 0 ? "root" : std::string("alice"); }}};
};

TEST(Events, EachKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    const EventDescription& description = describe(static_cast<EventKind>(i));
    EXPECT_FALSE(description.text.empty()) << description.name;
    EXPECT_TRUE(names.insert(description.name).second) << description.name;
    const bool is_problem = description.severity != Severity::kInfo;
    EXPECT_EQ(is_problem, !description.advice.empty()) << description.name;
  }
}

TEST_F(EventLogTest, TheAdviceOfAnEventReplacesTheAdviceOfItsKind) {
  log_.tell({.kind = EventKind::kReloadRefused,
             .subject = "gateway",
             .detail = "needs a restart: stp.mtu",
             .advice = "restart the gateway"});
  EXPECT_EQ(write(), std::vector<std::string>{
                         "gateway: reload: refused, nothing has changed (needs a restart: "
                         "stp.mtu); restart the gateway [reload_refused]"});
  const auto advice = std::ranges::find(fields_, "SATRELAY_ADVICE", &LogField::name);
  ASSERT_NE(advice, fields_.end());
  EXPECT_EQ(advice->value, "restart the gateway");
}

TEST_F(EventLogTest, ALineHasSubjectTextFiguresAdviceAndName) {
  tell(EventKind::kPeerReturned, "peer hub", "after 12.3 s");
  tell(EventKind::kMemoryLow, "gateway");
  EXPECT_EQ(write(),
            (std::vector<std::string>{
                "peer hub: heard again (after 12.3 s) [peer_returned]",
                "gateway: memory is low, windows shrink and new connections are bridged; raise "
                "limits.memory [memory_low]"}));
  EXPECT_EQ(levels_, (std::vector{config::LogLevel::kInfo, config::LogLevel::kWarning}));
}

TEST_F(EventLogTest, EventsAreNumberedFromOneWithTheTimeAtWhichTheyWereTold) {
  tell(EventKind::kPeerReturned, "peer hub", "after 12.3 s");
  time_ms_ -= 3'600'000;  // the machine's clock is set back
  tell(EventKind::kPortUp, "port lan");
  EXPECT_TRUE(kept().empty());
  write();
  ASSERT_EQ(kept().size(), 2U);
  EXPECT_EQ(kept()[0].number, 1U);
  EXPECT_EQ(kept()[0].time_ms, 1'764'082'060'000U);
  EXPECT_EQ(kept()[0].event.detail, "after 12.3 s");
  EXPECT_EQ(kept()[1].number, 2U);
  EXPECT_EQ(kept()[1].time_ms, 1'764'078'460'000U);
}

TEST_F(EventLogTest, WhoHasToldItAndBothValuesAreSaid) {
  log_.tell({.kind = EventKind::kBypassSet,
             .subject = "gateway",
             .detail = "",
             .caller = Caller{.user = 1000},
             .before = "off",
             .after = "on"});
  EXPECT_EQ(write(), std::vector<std::string>{
                         "gateway: bypass was set (from off to on, by alice) [bypass_set]"});
  EXPECT_EQ(kept()[0].user, "alice");
  EXPECT_EQ(field("SATRELAY_EVENT"), "bypass_set");
  EXPECT_EQ(field("SATRELAY_NUMBER"), "1");
  EXPECT_EQ(field("SATRELAY_BOOT_EPOCH"), "77");
  EXPECT_EQ(field("SATRELAY_SUBJECT"), "gateway");
  EXPECT_EQ(field("SATRELAY_USER"), "alice");
  EXPECT_EQ(field("SATRELAY_OLD"), "off");
  EXPECT_EQ(field("SATRELAY_NEW"), "on");
  EXPECT_EQ(field("SATRELAY_ADVICE"), "none");
}

TEST_F(EventLogTest, WhoAsksForSomebodyElseIsSaidToo) {
  log_.tell({.kind = EventKind::kReloadDone,
             .subject = "gateway",
             .detail = "rules",
             .caller = Caller{.user = 0, .on_behalf_of = "panel:bob"}});
  EXPECT_EQ(write(),
            std::vector<std::string>{"gateway: reload: done, the new configuration applies (rules, "
                                     "through root, by panel:bob) [reload_done]"});
  EXPECT_EQ(kept()[0].user, "panel:bob");
}

TEST_F(EventLogTest, AStormOfOneKindIsCountedAndHidesNoOther) {
  for (int i = 0; i < 300; ++i) tell(EventKind::kPeerSilent, "peer " + std::to_string(i));
  EXPECT_EQ(write().size(), kBurst);
  EXPECT_EQ(kept().size(), 300U) << "all peers of a hub";
  tell(EventKind::kPortDown, "port wan");
  EXPECT_EQ(write().size(), 1U);
  EXPECT_TRUE(write(EventLog::kLines.say_after - Duration::seconds(1)).empty());
  EXPECT_EQ(write(Duration::seconds(1)),
            std::vector<std::string>{
                "peer_silent: 290 more were not written, the last one about peer 299"});
  EXPECT_TRUE(write(EventLog::kLines.say_after).empty());
}

TEST_F(EventLogTest, LinesComeBackOneAnInterval) {
  for (std::uint32_t i = 0; i < kBurst + 2; ++i) tell(EventKind::kPeerSilent, "peer a");
  EXPECT_EQ(write().size(), kBurst);
  tell(EventKind::kPeerSilent, "peer b");
  tell(EventKind::kPeerSilent, "peer c");
  const auto lines = write(EventLog::kLines.interval);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "peer_silent: 2 more were not written, the last one about peer a");
  EXPECT_EQ(lines[1].substr(0, 7), "peer b:");
  for (std::uint32_t i = 0; i < kBurst; ++i) tell(EventKind::kPeerSilent, "peer d");
  // After a long silence there is room for a burst again.
  EXPECT_EQ(write(EventLog::kLines.interval * 100).size(), kBurst + 1);
}

// A short flood, then one event of that kind a second for a day.
TEST_F(EventLogTest, AFloodOfOneKindDoesNotWashOutTheOthers) {
  tell(EventKind::kPortDown, "port wan");
  for (int i = 0; i < 5'000; ++i) tell(EventKind::kRateLowered, "peer " + std::to_string(i));
  write();
  ASSERT_EQ(kept().size(), 1U + EventLog::kKept.burst);
  EXPECT_TRUE(kept().back().event.kind == EventKind::kRateLowered);
  write(EventLog::kKept.say_after);
  const NumberedEvent said = kept().back();
  EXPECT_EQ(said.event.kind, EventKind::kEventsLeftOut);
  // The log keeps no subject for an event that found no room to wait.
  EXPECT_EQ(said.event.detail, "rate_lowered: 4000, the last one about peer 2046");
  for (int second = 0; second < 86'400; ++second) {
    tell(EventKind::kRateLowered, "peer b");
    write(Duration::seconds(1));
  }
  const auto events = kept();
  EXPECT_EQ(events.front().event.kind, EventKind::kPortDown);
  EXPECT_LT(events.size(), EventRing::kMostEvents / 2);
  for (std::size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].number, i + 1);
}

TEST_F(EventLogTest, ALongTextIsCut) {
  tell(EventKind::kReloadRefused, "gateway", std::string(1 << 20, 'x'));
  const auto lines = write();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LT(lines[0].size(), EventLog::kMostDetail + 200);
  EXPECT_EQ(kept()[0].event.detail, std::string(kMostEventText - 3, 'x') + "...");
}

TEST_F(EventLogTest, ManyThreadsTellWhileOneWritesAndOthersRead) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  std::atomic<int> running = kThreads;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto kind = static_cast<EventKind>(i);
      for (int j = 0; j < kEach; ++j) log_.tell({kind, "peer " + std::to_string(j), ""});
      --running;
    });
  }
  threads.emplace_back([&] {
    std::uint64_t next = 1;
    while (next <= kThreads * kEach) {
      for (const NumberedEvent& event : ring_.from(next, 10)) ASSERT_EQ(event.number, next++);
      std::this_thread::yield();
    }
  });
  while (running > 0) write();
  write();
  threads.clear();
  EXPECT_EQ(ring_.numbers().latest, kThreads * kEach);
}

}  // namespace
}  // namespace satrelay::ops::event_log_test
