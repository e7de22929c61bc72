#include "relay/satrelayctl/init/questions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/relay/satrelayctl/init/sample_setting.h"

namespace satrelay::ctl::init::questions_test {
namespace {

const Question& question(std::string_view key) {
  return *std::ranges::find(questions(), key, &Question::key);
}

TEST(Questions, HaveKeysTextAndHelp) {
  std::set<std::string_view> keys;
  for (const Question& each : questions()) {
    EXPECT_TRUE(keys.insert(each.key).second) << each.key;
    EXPECT_FALSE(each.text.empty() || each.help.empty()) << each.key;
    EXPECT_TRUE(each.help.ends_with('.')) << each.key;
  }
}

TEST(Questions, LeaveTheAnswersAloneIfOneIsRefused) {
  const Setting setting = sample_setting("/tmp");
  Answers answers;
  EXPECT_EQ(take_answer(question("site"), "teleport", setting, answers), std::nullopt);
  EXPECT_EQ(take_answer(question("site"), "tele port", setting, answers),
            "\"tele port\" is not a name; write 1 to 32 letters, digits, '_' or '-'");
  EXPECT_EQ(answers.here.name, "teleport");
  EXPECT_EQ(take_answer(question("terminal_hosts"), "a,b", setting, answers),
            "\"a\" is not a prefix; write an address and a length, like 198.51.100.0/24");
}

TEST(Questions, ProposeTheOtherHostOfASubnet) {
  const Setting setting = sample_setting("/tmp");
  const auto peer_of = [&](const char* own) {
    Answers answers;
    EXPECT_EQ(take_answer(question("address"), own, setting, answers), std::nullopt);
    return question("peer_address").fallback(answers, setting);
  };
  EXPECT_EQ(peer_of("192.0.2.1/30"), "192.0.2.2");
  EXPECT_EQ(peer_of("192.0.2.2/30"), "192.0.2.1");
  EXPECT_EQ(peer_of("192.0.2.255/31"), "192.0.2.254");
  EXPECT_EQ(peer_of("10.0.0.7/24"), "10.0.0.8");
  EXPECT_EQ(peer_of("2001:db8::1/64"), "2001:db8::2");
  EXPECT_EQ(peer_of("10.0.0.7/32"), "");
}

TEST(Questions, ProposeASubnetThatThisMachineHasNot) {
  Setting setting = sample_setting("/tmp");
  const Question& address = question("address");
  Answers answers;
  EXPECT_EQ(address.fallback(answers, setting), "192.0.2.2/30");
  setting.machine.interfaces[1].addresses = {"192.0.2.2", "2001:db8::1"};
  setting.machine.interfaces[2].addresses = {"192.0.2.5"};
  EXPECT_EQ(address.fallback(answers, setting), "192.0.2.10/30");
  EXPECT_EQ(
      take_answer(address, "192.0.2.2/24", setting, answers),
      "\"192.0.2.2/24\" is an address of eth1 on this machine; write an address that only the "
      "gateway has");
  EXPECT_EQ(take_answer(address, "2001:db8::1/64", setting, answers)->substr(0, 37),
            "\"2001:db8::1/64\" is an address of eth");
  EXPECT_EQ(take_answer(address, "192.0.2.3/24", setting, answers), std::nullopt);
}

TEST(Questions, MakeANameFromTheHostName) {
  Setting setting = sample_setting("/tmp");
  EXPECT_EQ(question("site").fallback(Answers(), setting), "station");
  setting.machine.host_name = "-";
  EXPECT_EQ(question("site").fallback(Answers(), setting), "terminal");
  setting.machine.host_name = "...";
  EXPECT_EQ(question("site").fallback(Answers(), setting), "terminal");
}

}  // namespace
}  // namespace satrelay::ctl::init::questions_test
