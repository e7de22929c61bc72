#include "relay/satpanel/history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace satrelay::panel::history_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kNoon = 1'800'000'000;  // the first second of a minute

// The figures of a gateway `seconds` after its start. It sends 1,000 bytes a second to the link,
// and loses one packet of ten.
metrics::Readings readings(std::uint64_t seconds, const std::string& boot_epoch = "1") {
  metrics::Readings made;
  made.up = true;
  made.status = {{"boot_epoch", boot_epoch},
                 {"flows", 3U},
                 {"codec", {{"plain_bytes", 4000 * seconds}, {"encoded_bytes", 1000 * seconds}}}};
  made.ports = {{"lan", {{"rx_bytes", 2000 * seconds}, {"tx_bytes", 0}}},
                {"wan", {{"rx_bytes", 0}, {"tx_bytes", 1000 * seconds}}}};
  Json alive{{"state", "alive"}, {"rtt_us", 500'000U}};
  alive["counters"] = {{"packets_out", 10 * seconds}, {"packets_lost", seconds}};
  made.peers = Json::array();
  made.peers.push_back(std::move(alive));
  made.peers.push_back({{"state", "suspect"}, {"rtt_us", 900'000U}});
  made.classes = Json::array();
  made.classes.push_back({{"name", "web"},
                          {"relayed_bytes", 600 * seconds},
                          {"bridged_bytes", 100 * seconds},
                          {"held_bytes", 5U},
                          {"waiting_bytes", 30U},
                          {"plain_bytes", 1200 * seconds},
                          {"encoded_bytes", 600 * seconds}});
  made.classes.push_back({{"name", "bridged"}, {"held_bytes", 7U}});
  return made;
}

TEST(History, HasRatesOfEachSecond) {
  History history("");
  for (std::uint64_t i = 1; i <= 10; ++i) history.add(readings(i), kNoon + i);
  const auto samples = history.samples(History::Span::kHour, kNoon + 10);
  ASSERT_EQ(samples.size(), 9U);
  const Sample& last = samples.back();
  EXPECT_EQ(last.time, kNoon + 10);
  EXPECT_FLOAT_EQ(last.send_bps, 8000);
  EXPECT_FLOAT_EQ(last.lan_in_bps, 16000);
  EXPECT_FLOAT_EQ(last.loss_ratio, 0.1F);
  EXPECT_FLOAT_EQ(last.compression_ratio, 4);
  EXPECT_FLOAT_EQ(last.rtt_seconds, 0.5F) << "of a peer that is not alive";
  EXPECT_FLOAT_EQ(last.queued_bytes, 42);
  EXPECT_FLOAT_EQ(last.class_bps[0], 5600);
  EXPECT_FLOAT_EQ(last.class_queued_bytes[0], 35);
  EXPECT_FLOAT_EQ(last.class_queued_bytes[1], 7);
  EXPECT_FLOAT_EQ(last.class_compression_ratio[0], 2);
  EXPECT_TRUE(std::isnan(last.class_compression_ratio[1])) << "nothing was encoded";
  EXPECT_TRUE(std::isnan(last.class_queued_bytes[2])) << "there is no third one";
  EXPECT_EQ(history.class_names(), (std::vector<std::string>{"web", "bridged"}));
}

TEST(History, HasAMinuteAsAWholeAndOnlyOnce) {
  History history("");
  for (std::uint64_t i = 1; i <= 130; ++i) history.add(readings(i), kNoon + i);
  const auto minutes = history.samples(History::Span::kDay, kNoon + 130);
  ASSERT_EQ(minutes.size(), 2U);
  EXPECT_FLOAT_EQ(minutes[1].send_bps, 8000);
  EXPECT_EQ(minutes[1].time - minutes[0].time, 60U);
}

TEST(History, GoesOnBehindAGap) {
  History history("");
  history.add(readings(1), kNoon + 1);
  history.add({}, kNoon + 2);  // the gateway has not answered
  history.add(readings(5), kNoon + 5);
  const auto samples = history.samples(History::Span::kHour, kNoon + 5);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_FLOAT_EQ(samples[0].send_bps, 8000);
}

TEST(History, TakesNothingFromARestartOrAClockThatIsSetBack) {
  History history("");
  history.add(readings(1000), kNoon + 1);
  history.add(readings(1, "2"), kNoon + 2);
  EXPECT_TRUE(history.samples(History::Span::kHour, kNoon + 2).empty());
  history.add(readings(2, "2"), kNoon - 100);
  history.add(readings(3, "2"), kNoon - 99);
  const auto samples = history.samples(History::Span::kHour, kNoon);
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_FLOAT_EQ(samples[0].send_bps, 8000);
}

TEST(History, HasNumbersThatAreNotKnownAsNone) {
  History history("");
  metrics::Readings first = readings(1), second = readings(1);
  first.peers = Json();
  second.peers = Json();
  history.add(first, kNoon + 1);
  history.add(second, kNoon + 2);
  const auto samples = history.samples(History::Span::kHour, kNoon + 2);
  EXPECT_TRUE(std::isnan(samples.at(0).loss_ratio));
  EXPECT_TRUE(std::isnan(samples.at(0).rtt_seconds));
  EXPECT_TRUE(std::isnan(samples.at(0).compression_ratio));
}

TEST(History, IsBoundedAndForgetsWhatIsOlderThanItsSpan) {
  History history("");
  for (std::uint64_t i = 1; i <= 5000; ++i) history.add(readings(i), kNoon + i);
  const auto samples = history.samples(History::Span::kHour, kNoon + 5000);
  EXPECT_EQ(samples.size(), History::kSeconds);
  EXPECT_EQ(samples.front().time, kNoon + 5000 - History::kSeconds + 1);
  EXPECT_TRUE(history.samples(History::Span::kHour, kNoon + 20'000).empty());
}

class HistoryFile : public testing::Test {
 protected:
  HistoryFile() : file_(testing::TempDir() + "satpanel-history-" + std::to_string(::getpid())) {}
  ~HistoryFile() override {
    std::filesystem::remove(file_);
    std::filesystem::remove(aside());
    std::filesystem::remove(aside().string() + ".2");
  }
  std::filesystem::path aside() const { return file_.string() + ".unknown"; }
  std::filesystem::path file_;
};

TEST_F(HistoryFile, OutlivesTheProgramAndHasItsSizeFromTheStart) {
  {
    History history(file_);
    const auto size = std::filesystem::file_size(file_);
    for (std::uint64_t i = 1; i <= 100; ++i) history.add(readings(i), kNoon + i);
    EXPECT_EQ(std::filesystem::file_size(file_), size);
  }
  History again(file_);
  EXPECT_EQ(again.samples(History::Span::kHour, kNoon + 100).size(), 99U);
  EXPECT_EQ(again.samples(History::Span::kDay, kNoon + 100).size(), 1U);
}

TEST_F(HistoryFile, ThatIsAnotherIsKeptAndSaid) {
  std::ofstream(file_) << "something else";
  History history(file_);
  EXPECT_TRUE(history.samples(History::Span::kHour, kNoon).empty());
  EXPECT_GT(std::filesystem::file_size(file_), 500'000U);
  std::string kept;
  std::getline(std::ifstream(aside()), kept);
  EXPECT_EQ(kept, "something else");
  EXPECT_NE(history.notice().find(aside().string()), std::string::npos) << history.notice();
}

TEST_F(HistoryFile, ASecondThatIsAnotherDoesNotTakeThePlaceOfTheFirst) {
  for (const char* text : {"the first", "the second"}) {
    std::ofstream(file_) << text;
    const History history(file_);
    EXPECT_NE(history.notice().find(aside().string()), std::string::npos);
  }
  std::string kept;
  std::getline(std::ifstream(aside()), kept);
  EXPECT_EQ(kept, "the first");
  std::getline(std::ifstream(aside().string() + ".2"), kept);
  EXPECT_EQ(kept, "the second");
}

TEST_F(HistoryFile, OfTheSameVersionNeedsNoNotice) {
  EXPECT_EQ(History(file_).notice(), "");
  EXPECT_EQ(History(file_).notice(), "");
}

// A sample as the previous version wrote it, with fewer figures of a class.
struct SampleBefore {
  std::uint64_t time = 0;
  std::array<float, 10> figures{};
  std::array<float, kHistoryClasses> class_bps{};
};
static_assert(sizeof(SampleBefore) == 120);

TEST_F(HistoryFile, OfTheVersionBeforeIsTakenOver) {
  {
    std::vector<SampleBefore> samples(History::kSeconds + History::kMinutes);
    samples[10] = {.time = kNoon, .figures = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, .class_bps = {11}};
    samples[History::kSeconds + 1] = {.time = kNoon + 60, .figures = {12}, .class_bps = {13}};
    std::ofstream out(file_, std::ios::binary);
    const std::uint64_t sizes[] = {sizeof(SampleBefore), History::kSeconds, History::kMinutes};
    out.write("srhist01", 8);
    out.write(reinterpret_cast<const char*>(sizes), sizeof sizes);
    out.write(reinterpret_cast<const char*>(samples.data()),
              static_cast<std::streamsize>(samples.size() * sizeof(SampleBefore)));
  }
  for (const char* round : {"taken over", "read again"}) {
    SCOPED_TRACE(round);
    const History history(file_);
    EXPECT_EQ(history.notice().empty(), round == std::string("read again")) << history.notice();
    const auto seconds = history.samples(History::Span::kHour, kNoon + 60);
    ASSERT_EQ(seconds.size(), 1U);
    EXPECT_FLOAT_EQ(seconds[0].send_bps, 1);
    EXPECT_FLOAT_EQ(seconds[0].flows, 10);
    EXPECT_FLOAT_EQ(seconds[0].class_bps[0], 11);
    EXPECT_TRUE(std::isnan(seconds[0].class_queued_bytes[0]));
    EXPECT_TRUE(std::isnan(seconds[0].class_compression_ratio[0]));
    const auto minutes = history.samples(History::Span::kDay, kNoon + 60);
    ASSERT_EQ(minutes.size(), 1U);
    EXPECT_FLOAT_EQ(minutes[0].class_bps[0], 13);
  }
  EXPECT_FALSE(std::filesystem::exists(aside()));
}

TEST_F(HistoryFile, ThatCannotBeHadIsSaid) {
  EXPECT_THROW(History(file_ / "below"), std::runtime_error);
}

}  // namespace
}  // namespace satrelay::panel::history_test
