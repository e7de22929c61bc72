#include "relay/ops/event_log.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace satrelay::ops {
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

  Instant now_ = Instant::from_nanoseconds(1);
  std::vector<std::string> lines_;
  std::vector<config::LogLevel> levels_;
  EventLog log_{[this](config::LogLevel level, const std::string& line) {
    levels_.push_back(level);
    lines_.push_back(line);
  }};
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

TEST_F(EventLogTest, AStormOfOneKindIsCountedAndHidesNoOther) {
  for (int i = 0; i < 300; ++i) tell(EventKind::kPeerSilent, "peer " + std::to_string(i));
  // What waits is bounded, too.
  EXPECT_EQ(write().size(), EventLog::kBurst);
  tell(EventKind::kPortDown, "port wan");
  EXPECT_EQ(write().size(), 1U);
  EXPECT_TRUE(write(EventLog::kSayLeftOutAfter - Duration::seconds(1)).empty());
  EXPECT_EQ(
      write(Duration::seconds(1)),
      std::vector<std::string>{"peer_silent: 290 more were not written, the last of peer 255"});
  EXPECT_TRUE(write(EventLog::kSayLeftOutAfter).empty());
}

TEST_F(EventLogTest, LinesComeBackOneAnInterval) {
  for (std::uint32_t i = 0; i < EventLog::kBurst + 2; ++i) tell(EventKind::kPeerSilent, "peer a");
  EXPECT_EQ(write().size(), EventLog::kBurst);
  tell(EventKind::kPeerSilent, "peer b");
  tell(EventKind::kPeerSilent, "peer c");
  const auto lines = write(EventLog::kInterval);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "peer_silent: 2 more were not written, the last of peer a");
  EXPECT_EQ(lines[1].substr(0, 7), "peer b:");
  for (std::uint32_t i = 0; i < EventLog::kBurst; ++i) tell(EventKind::kPeerSilent, "peer d");
  // After a long silence there is room for a burst again.
  EXPECT_EQ(write(EventLog::kInterval * 100).size(), EventLog::kBurst + 1);
}

}  // namespace
}  // namespace satrelay::ops
