#include "relay/satrelayctl/commands/event_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <vector>

#include "tests/unit/relay/client/fake_telemetry.h"

namespace satrelay::ctl::event_reader_test {
namespace {

// A gateway with events from `oldest_` to `latest_`, three a page.
class EventReaderTest : public testing::Test {
 protected:
  void start(std::uint64_t boot_epoch) {
    gateway_ = std::make_unique<FakeTelemetry>(socket_, kGreeting, [=, this](const auto& command) {
      const std::lock_guard lock(mutex_);
      return answer(command, boot_epoch);
    });
  }
  void stop() {
    gateway_.reset();
    std::filesystem::remove(socket_);
  }
  void has(std::uint64_t oldest, std::uint64_t latest) {
    const std::lock_guard lock(mutex_);
    oldest_ = oldest;
    latest_ = latest;
  }
  std::string answer(const std::string& command, std::uint64_t boot_epoch) const {
    const std::string name = command.substr(0, command.find(','));
    Json value = Json::object();
    if (name == "/satrelay/event_numbers") {
      value = {{"boot_epoch", boot_epoch}, {"oldest", oldest_}, {"latest", latest_}};
    } else {
      const std::uint64_t first = std::stoull(command.substr(command.find(',') + 1));
      for (std::uint64_t i = std::max(first, oldest_); i <= latest_ && value.size() < 3; ++i) {
        value[std::to_string(i)] = {{"number", i}};
      }
    }
    return Json({{name, value}}).dump();
  }
  // Returns the numbers and notices seen since the last call.
  std::vector<std::string> seen() { return std::exchange(seen_, {}); }
  using Seen = std::vector<std::string>;

  TemporaryFolder folder_;
  std::filesystem::path socket_ = folder_.path() / "s";
  std::mutex mutex_;
  std::uint64_t oldest_ = 1;
  std::uint64_t latest_ = 0;
  std::unique_ptr<FakeTelemetry> gateway_;
  std::vector<std::string> seen_;
  EventReader reader_{socket_,
                      {.event =
                           [this](const Json& event) {
                             seen_.push_back(event.at("boot_epoch").get<std::string>() + ":" +
                                             event.at("number").dump());
                           },
                       .notice = [this](const std::string& text) { seen_.push_back(text); }}};
};

TEST_F(EventReaderTest, ReadsWhatIsKeptAndThenWhatIsNew) {
  start(9);
  has(1, 7);
  reader_.read_kept(std::nullopt);
  EXPECT_EQ(seen(), (Seen{"9:1", "9:2", "9:3", "9:4", "9:5", "9:6", "9:7"}));
  reader_.read_new();
  EXPECT_EQ(seen(), Seen{});
  has(1, 9);
  reader_.read_new();
  EXPECT_EQ(seen(), (Seen{"9:8", "9:9"}));
}

TEST_F(EventReaderTest, ReadsNoMoreThanTheLastOnes) {
  start(9);
  has(5, 12);
  reader_.read_kept(2);
  EXPECT_EQ(seen(), (Seen{"9:11", "9:12"}));
  reader_.read_kept(100);
  EXPECT_EQ(seen().size(), 8U);
  has(1, 0);
  reader_.read_kept(50);
  EXPECT_EQ(seen(), Seen{});
}

TEST_F(EventReaderTest, SaysWhatWasForgottenBeforeItCouldBeRead) {
  start(9);
  has(1, 2);
  reader_.read_kept(std::nullopt);
  has(8, 9);
  seen();
  reader_.read_new();
  EXPECT_EQ(seen(), (Seen{"5 events were dropped before they could be read", "9:8", "9:9"}));
}

TEST_F(EventReaderTest, WaitsForAGatewayAndSeesThatItIsAnotherRun) {
  start(9);
  has(1, 2);
  reader_.read_kept(std::nullopt);
  seen();
  stop();
  reader_.read_new();
  EXPECT_EQ(seen(), Seen{"no gateway runs at " + socket_.string() +
                         "; is satrelayd started?; trying again"});
  reader_.read_new();
  EXPECT_EQ(seen(), Seen{}) << "once is enough";
  start(9);
  has(1, 3);
  reader_.read_new();
  EXPECT_EQ(seen(), (Seen{"the gateway answers again", "9:3"}));
  stop();
  start(10);
  has(1, 1);
  reader_.read_new();
  EXPECT_EQ(seen(), (Seen{"the gateway restarted; its events begin with 1 again", "10:1"}));
}

TEST_F(EventReaderTest, AGatewayWithoutEventsIsAMistakeToTellOf) {
  const FakeTelemetry old(socket_, kGreeting, [](const std::string& command) {
    return Json({{command, nullptr}}).dump();
  });
  EXPECT_THROW(reader_.read_kept(50), StatsError);
}

}  // namespace
}  // namespace satrelay::ctl::event_reader_test
