#include "relay/doctor/own_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "config/readers/loader.h"
#include "tests/unit/config/one_key.h"
#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::doctor::own_facts_test {
namespace {

using namespace std::chrono_literals;

class OwnFactsTest : public testing::Test {
 protected:
  OwnFactsTest() { write(""); }

  void write(const std::string& line) {
    std::ofstream(file_) << config::with_line(line);
    // The times of two writings are too near to each other for some file systems.
    std::filesystem::last_write_time(
        file_, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(++writings_));
  }
  std::shared_ptr<const TakenOver> taken_over() const {
    const auto stamp = stamp_of(file_.string());
    return doctor::taken_over(config::load_gateway(file_.string()), file_.string(), stamp);
  }
  OwnFacts::Environment environment() {
    return {.file = file_.string(),
            .socket = socket_,
            .window = 4000ms,
            .is_stopped = [this] { return stopped_.load(); },
            .pause =
                [this](std::chrono::milliseconds time) {
                  paused_ += time;
                  return !stopped_;
                }};
  }
  std::string answer(const std::string& command) {
    const std::string name = command.substr(0, command.find(','));
    std::string value = "{}";
    if (name == "/satrelay/status") value = R"({"uptime_ms": 9000})";
    if (name == "/satrelay/event_numbers") value = R"({"latest": 0})";
    if (name == "/satrelay/counters") {
      value = "{\"dropped_too_long\": " + std::to_string(dropped_) + "}";
    }
    if (command == "/satrelay/peers,0,1000") {
      value = R"({"0": {"name": "ship", "state": ")" + state_ + "\"}}";
    }
    return "{\"" + name + "\": " + value + "}";
  }
  Instant at(std::int64_t seconds) { return Instant() + Duration::seconds(seconds); }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "gateway.yaml";
  std::filesystem::path socket_ = folder_.path() / "s";
  std::string state_ = "alive";
  std::uint64_t dropped_ = 0;
  std::chrono::milliseconds paused_{0};
  std::atomic<bool> stopped_ = false;
  int writings_ = 0;
  FakeTelemetry gateway_{socket_, kGreeting,
                         [this](const std::string& command) { return answer(command); }};
};

TEST_F(OwnFactsTest, JudgesTheConfigurationThatRuns) {
  OwnFacts own(environment());
  const auto started = taken_over();
  EXPECT_EQ(own.read(*started, at(10)).file.read_files.at(0).change, FileChange::kNone);
  write("log: warning");
  Facts facts = own.read(*started, at(20));
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kChanged);
  EXPECT_EQ(facts.file.config->log_level, config::LogLevel::kInfo) << "was not taken over";
  const auto reloaded = taken_over();
  facts = own.read(*reloaded, at(30));
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kNone);
  EXPECT_EQ(facts.file.config->log_level, config::LogLevel::kWarning);
}

// A file that is being written may be anything, and only a reload parses it.
TEST_F(OwnFactsTest, DoesNotReadAFileThatHasChanged) {
  OwnFacts own(environment());
  const auto started = taken_over();
  write("no_such_key: 1");
  Facts facts = own.read(*started, at(10));
  EXPECT_EQ(facts.file.mistake, "");
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kChanged);
  std::filesystem::remove(file_);
  facts = own.read(*started, at(20));
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kGone);
  EXPECT_TRUE(facts.file.config) << "the gateway still has it";
}

TEST_F(OwnFactsTest, SeesAChangeDuringTheReadingAndAFileOfTheSameTime) {
  OwnFacts own(environment());
  const auto stamp = stamp_of(file_.string());
  const auto time = std::filesystem::last_write_time(file_);
  const auto config = config::load_gateway(file_.string());
  std::filesystem::rename(file_, file_.string() + ".old");
  std::ofstream(file_) << config::with_line("");
  std::filesystem::last_write_time(file_, time);
  const Facts facts = own.read(*doctor::taken_over(config, file_.string(), stamp), at(10));
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kChanged);
}

TEST_F(OwnFactsTest, HoldsNoKeys) {
  EXPECT_FALSE(
      OwnFacts(environment()).read(*taken_over(), at(10)).file.config->peers[0].security.keys);
}

TEST_F(OwnFactsTest, CountsInASpanOfFiveToTenMinutes) {
  OwnFacts own(environment());
  const auto running = taken_over();
  dropped_ = 7;
  Facts facts = own.read(*running, at(10));
  EXPECT_EQ(counted(*facts.gateway, "dropped_too_long"), 7U);
  EXPECT_EQ(facts.gateway->span, "since the start");
  EXPECT_EQ(counted(*own.read(*running, at(200)).gateway, "dropped_too_long"), 7U);
  facts = own.read(*running, at(310));
  EXPECT_EQ(counted(*facts.gateway, "dropped_too_long"), 0U);
  EXPECT_EQ(facts.gateway->span, "in the last 5 minutes");
  dropped_ = 9;
  // Runs that follow each other soon do not shorten the span.
  EXPECT_EQ(counted(*own.read(*running, at(320)).gateway, "dropped_too_long"), 2U);
  EXPECT_EQ(counted(*own.read(*running, at(330)).gateway, "dropped_too_long"), 2U);
  facts = own.read(*running, at(609));
  EXPECT_EQ(facts.gateway->span, "in the last 9 minutes");
  EXPECT_EQ(counted(*facts.gateway, "dropped_too_long"), 2U);
  own.read(*running, at(640));
  EXPECT_EQ(counted(*own.read(*running, at(950)).gateway, "dropped_too_long"), 0U);
}

TEST_F(OwnFactsTest, WaitsBetweenTwoReadingsOnlyIfAPeerIsSilent) {
  OwnFacts own(environment());
  const auto running = taken_over();
  own.read(*running, at(10));
  EXPECT_EQ(paused_, 0ms);
  state_ = "connecting";
  EXPECT_FALSE(own.read(*running, at(20)).gateway->earlier_peers.is_null());
  EXPECT_EQ(paused_, 4000ms);
}

TEST_F(OwnFactsTest, EndsIfItIsStopped) {
  state_ = "connecting";
  OwnFacts own(environment());
  const auto running = taken_over();
  stopped_ = true;
  EXPECT_THROW(own.read(*running, at(10)), StatsError);
}

// A gateway that root has started runs as another user, who may not read every file of root.
TEST_F(OwnFactsTest, AFileWithoutTheRightToReadItHasNotChanged) {
  constexpr uid_t kNobody = 65534;
  OwnFacts own(environment());
  const auto running = taken_over();
  std::filesystem::permissions(file_, std::filesystem::perms::none);
  const uid_t user = ::geteuid();
  if (user == 0) {
    ASSERT_EQ(::chown(folder_.path().c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    ASSERT_EQ(::chown(file_.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    ASSERT_EQ(::chown(socket_.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const Facts facts = own.read(*running, at(10));
  ASSERT_EQ(::seteuid(user), 0);
  EXPECT_EQ(facts.file.read_files.at(0).change, FileChange::kNone);
  EXPECT_FALSE(facts.file.read_files.at(0).is_readable);
}

}  // namespace
}  // namespace satrelay::ctl::doctor::own_facts_test
