#include "relay/satrelayd/commands/reload.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "config/readers/loader.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::satrelayd::reload_test {
namespace {

using Keys = std::vector<std::string>;

constexpr const char* kFile = R"(
ports: {lan: {interface: lan0, driver: af_packet}, wan: {interface: wan0, driver: af_packet}}
gateway: {address: 192.0.2.1/30}
links: {sat: {send_rate: 50Mbit, receive_rate: 50Mbit, overhead: ethernet}}
security: none
peers: [{name: remote, address: 192.0.2.2, link: sat}]
)";

Keys keys_of(const Reload::Outcome& outcome) {
  Keys keys;
  for (const config::ChangedKey& each : outcome.changes) keys.push_back(each.key);
  return keys;
}

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() {
    write("");
    EXPECT_EQ(::chmod(folder_.path().c_str(), 0755), 0);  // for Reader::kOther
  }
  void write(const std::string& more) const { std::ofstream(file_) << kFile << more; }
  // kOther: a user without the rights of root. The test may be run by root, who reads every file.
  enum class Reader { kSame, kOther };
  static Reload::Outcome outcome_of(Reload& reload, Reader reader = Reader::kSame) {
    constexpr ::uid_t kNobody = 65534;
    const ::uid_t user = ::geteuid();
    EXPECT_EQ(::seteuid(reader == Reader::kOther && user == 0 ? kNobody : user), 0);
    reload.begin();
    Reload::Outcome outcome = next_of(reload);
    EXPECT_EQ(::seteuid(user), 0);
    return outcome;
  }
  static Reload::Outcome next_of(Reload& reload) {
    while (true) {
      if (auto outcome = reload.poll()) return std::move(*outcome);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  TemporaryFolder folder_;
  const std::string file_ = folder_.file("gateway.yaml");
};

TEST_F(ReloadTest, SaysInWhatTheFileDiffersFromWhatRuns) {
  Reload reload(file_, config::load_gateway(file_));
  EXPECT_EQ(keys_of(outcome_of(reload)), Keys{});
  write("rules: [{action: accelerate}]\nlog: warning\n");
  const Reload::Outcome first = outcome_of(reload);
  ASSERT_TRUE(first.configuration) << first.error;
  EXPECT_EQ(keys_of(first), (Keys{"rules", "log"}));
  EXPECT_EQ(keys_of(outcome_of(reload)), (Keys{"rules", "log"})) << "it was not taken over";
  reload.took_over(first);
  EXPECT_EQ(keys_of(outcome_of(reload)), Keys{});
  write("log: warning\n");
  EXPECT_EQ(keys_of(outcome_of(reload)), Keys{"rules"});
}

// The search for faults takes the configuration from here, and never from the file.
TEST_F(ReloadTest, HandsOverWhatItHasRead) {
  Reload reload(file_, config::load_gateway(file_));
  write("log: warning\n");
  const auto stamp = ctl::doctor::stamp_of(file_);
  const Reload::Outcome outcome = outcome_of(reload);
  write("log: error\n");
  ASSERT_TRUE(outcome.taken_over) << outcome.error;
  EXPECT_EQ(outcome.taken_over->config.log_level, config::LogLevel::kWarning);
  EXPECT_EQ(outcome.taken_over->files.at(file_), stamp);
  EXPECT_NE(outcome.taken_over->files.at(file_), ctl::doctor::stamp_of(file_));
  write("no_such_key: 1\n");
  EXPECT_FALSE(outcome_of(reload).taken_over);
}

// The file may have been written after the first read, so it is read once more.
TEST_F(ReloadTest, ReadsOnceMoreIfAskedMeanwhile) {
  Reload reload(file_, config::load_gateway(file_));
  write("log: warning\n");
  reload.begin();
  reload.begin();
  reload.begin();
  const Reload::Outcome first = next_of(reload);
  EXPECT_EQ(keys_of(first), Keys{"log"});
  EXPECT_TRUE(reload.is_reading());
  reload.took_over(first);
  write("rules: [{action: accelerate}]\nlog: warning\n");
  EXPECT_EQ(keys_of(next_of(reload)), Keys{"rules"}) << "beside what runs by then";
  EXPECT_FALSE(reload.is_reading());
  EXPECT_FALSE(reload.poll().has_value());
}

TEST_F(ReloadTest, ReadsOnAThreadThatMaySettleElsewhere) {
  std::thread::id settled;
  Reload reload(file_, config::load_gateway(file_), [&] { settled = std::this_thread::get_id(); });
  outcome_of(reload);
  EXPECT_NE(settled, std::thread::id());
  EXPECT_NE(settled, std::this_thread::get_id());
}

TEST_F(ReloadTest, SaysWhyNot) {
  Reload reload(file_, config::load_gateway(file_));
  write("limits: {flows: 1000}\n");
  const Reload::Outcome refused = outcome_of(reload);
  EXPECT_FALSE(refused.configuration);
  EXPECT_EQ(refused.error, "needs a restart: limits.flows");
  EXPECT_EQ(refused.refusal, ReloadRefusal::kNeedsRestart);
  write("nonsense: 1\n");
  const Reload::Outcome wrong = outcome_of(reload);
  EXPECT_NE(wrong.error.find("nonsense"), std::string::npos);
  EXPECT_EQ(wrong.refusal, ReloadRefusal::kMistake);
  EXPECT_TRUE(wrong.mistakes.empty());
}

TEST_F(ReloadTest, SaysAllMistakes) {
  Reload reload(file_, config::load_gateway(file_));
  write("nonsense: 1\nlog: loud\ncompress_level: 20\n");
  const Reload::Outcome wrong = outcome_of(reload);
  EXPECT_TRUE(wrong.error.ends_with(" (and 2 more mistakes)")) << wrong.error;
  ASSERT_EQ(wrong.mistakes.size(), 4U);
  EXPECT_NE(wrong.mistakes[1].find(" log: \"loud\" is not known here"), std::string::npos);
  EXPECT_EQ(wrong.mistakes[3], "3 mistakes");
}

TEST_F(ReloadTest, TellsAFileThatItMayNotReadFromAFileThatIsMissing) {
  Reload reload(file_, config::load_gateway(file_));
  const std::string dictionary = folder_.file("dictionary");
  std::ofstream(dictionary) << "no dictionary";
  write("classes: {web: {dictionary: " + dictionary + "}}\n");
  EXPECT_EQ(outcome_of(reload).refusal, ReloadRefusal::kMistake);
  ASSERT_EQ(::chmod(dictionary.c_str(), 0), 0);
  EXPECT_EQ(outcome_of(reload, Reader::kOther).refusal, ReloadRefusal::kFileRights);
  std::filesystem::remove(dictionary);
  const Reload::Outcome missing = outcome_of(reload);
  EXPECT_EQ(missing.refusal, ReloadRefusal::kNoFile);
  EXPECT_NE(missing.error.find("dictionary: " + dictionary + ": cannot be read"), std::string::npos)
      << missing.error;
  ASSERT_EQ(::chmod(file_.c_str(), 0), 0);
  EXPECT_EQ(outcome_of(reload, Reader::kOther).refusal, ReloadRefusal::kFileRights);
  std::filesystem::remove(file_);
  EXPECT_EQ(outcome_of(reload).refusal, ReloadRefusal::kNoFile);
}

TEST_F(ReloadTest, TellsASecretThatOthersMayRead) {
  Reload reload(file_, config::load_gateway(file_));
  const std::string secret = folder_.file("psk");
  std::ofstream(secret) << std::string(64, 'a') << '\n';
  ASSERT_EQ(::chmod(secret.c_str(), 0644), 0);
  std::string text = kFile;
  text.replace(text.find("none"), 4, "{psk_file: " + secret + "}");
  std::ofstream(file_) << text;
  const Reload::Outcome refused = outcome_of(reload);
  EXPECT_EQ(refused.refusal, ReloadRefusal::kFileRights) << refused.error;
  EXPECT_NE(refused.error.find("mode 0644"), std::string::npos) << refused.error;
}

}  // namespace
}  // namespace satrelay::satrelayd::reload_test
