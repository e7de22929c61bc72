#include "relay/satrelayd/commands/reload.h"

#include <gtest/gtest.h>

#include <chrono>
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
  ReloadTest() { write(""); }
  void write(const std::string& more) const { std::ofstream(file_) << kFile << more; }
  static Reload::Outcome outcome_of(Reload& reload) {
    reload.begin();
    return next_of(reload);
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
  write("nonsense: 1\n");
  EXPECT_NE(outcome_of(reload).error.find("nonsense"), std::string::npos);
}

}  // namespace
}  // namespace satrelay::satrelayd::reload_test
