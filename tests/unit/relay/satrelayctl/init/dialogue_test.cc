#include "relay/satrelayctl/init/dialogue.h"

#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/relay/satrelayctl/init/sample_setting.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::ctl::init::dialogue_test {
namespace {

// A user that types lines for some prompts, and Enter for all others.
class User {
 public:
  // `prompt` is the begin of a prompt. Lines for the same prompt are typed in turn.
  User& types(const std::string& prompt, const std::string& line) {
    lines_.emplace_back(prompt, line);
    return *this;
  }
  LineSource source() {
    return [this](const std::string& prompt) {
      shown_.push_back(prompt);
      for (auto line = lines_.begin(); line != lines_.end(); ++line) {
        if (!prompt.starts_with(line->first)) continue;
        std::string typed = line->second;
        lines_.erase(line);
        return typed;
      }
      return std::string();
    };
  }
  const std::vector<std::string>& shown() const { return shown_; }
  bool has_typed_all() const { return lines_.empty(); }

 private:
  std::deque<std::pair<std::string, std::string>> lines_;
  std::vector<std::string> shown_;
};

class DialogueTest : public ::testing::Test {
 protected:
  Answers ask(Measure measure = nullptr) {
    Dialogue dialogue(setting_, user_.source(), out_, std::move(measure));
    Answers answers = dialogue.ask();
    EXPECT_TRUE(user_.has_typed_all());
    return answers;
  }
  bool shows(const std::string& text) const { return out_.str().find(text) != std::string::npos; }

  TemporaryFolder folder_;
  Setting setting_ = sample_setting(folder_.file("new"));
  User user_;
  std::ostringstream out_;
};

TEST_F(DialogueTest, TakesDefaultsByEnter) {
  const Answers answers = ask();
  EXPECT_EQ(answers.folder, folder_.file("new"));
  EXPECT_EQ(answers.here.lan.interface, "eth1");
  EXPECT_EQ(answers.here.wan.interface, "eth2");
  EXPECT_TRUE(answers.finds_capacity);
  // Neither the folder nor the routers are asked for.
  EXPECT_EQ(user_.shown().size(), questions().size() - 4);
  EXPECT_EQ(user_.shown().front(), "Role of this gateway: hub or terminal [terminal]: ");
}

TEST_F(DialogueTest, AsksForTheFolderUnlessItIsGiven) {
  setting_.folder.reset();
  user_.types("Folder", folder_.file("other"));
  EXPECT_EQ(ask().folder, folder_.file("other"));
}

TEST_F(DialogueTest, ExplainsAndAsksAgain) {
  user_.types("Role", "?").types("Role", "boss").types("Role", "hub");
  user_.types("Kind of modem", "?").types("Kind of modem", "gse");
  user_.types("Rate of the link", "known").types("Rate that the modem here", "");
  user_.types("Rate that the modem here", "50Mbit").types("Rate that the modem of", "10Mbit");
  user_.types("Prefixes", "198.51.100.0/24, 2001:db8:2::/48");
  const Answers answers = ask();
  EXPECT_EQ(answers.role, Role::kHub);
  EXPECT_EQ(answers.overhead, 10U);
  EXPECT_EQ(answers.terminal_hosts.size(), 2U);
  EXPECT_EQ(answers.send_rate, BitRate::bits_per_second(50'000'000));
  EXPECT_TRUE(shows("  The hub is at the teleport"));
  EXPECT_TRUE(shows("  \"boss\" is not known here; allowed: hub, terminal\n"));
  EXPECT_TRUE(shows("  gse: 10, DVB-S2 or S2X with GSE: "));
  EXPECT_TRUE(shows("This question has no default."));
}

TEST_F(DialogueTest, AsksForRoutersBetweenTwoSubnets) {
  user_.types("Address of this", "192.0.2.10/29").types("Address of the other", "203.0.113.5/29");
  user_.types("Router towards", "").types("Router towards", "none");
  user_.types("Router towards", "192.0.2.9");
  user_.types("Router from", "203.0.113.1");
  const Answers answers = ask();
  EXPECT_EQ(answers.here.next_hop->to_string(), "192.0.2.9");
  EXPECT_TRUE(shows("the two gateways are in different subnets"));
}

TEST_F(DialogueTest, NeedsAYesForAPortThatIsUsed) {
  user_.types("Port towards the hosts (LAN)", "eth0").types("Take it", "no");
  user_.types("Port towards the hosts (LAN)", "eth1");
  user_.types("Port towards the modem (WAN)", "eth0").types("Take it", "maybe");
  user_.types("Take it", "yes");
  const Answers answers = ask();
  EXPECT_EQ(answers.here.lan.interface, "eth1");
  EXPECT_EQ(answers.here.wan.interface, "eth0");
  EXPECT_TRUE(shows("eth0 carries the default route and an ssh session of this machine."));
  EXPECT_TRUE(shows("Write yes or no."));
}

TEST_F(DialogueTest, WarnsOfSwappedPorts) {
  setting_.machine.interfaces[1].traffic = Traffic{.frames = 9, .near = 1};
  setting_.machine.interfaces[2].traffic = Traffic{.frames = 9, .near = 5};
  user_.types("Port towards the hosts (LAN)", "eth1").types("Keep", "no");
  user_.types("Port towards the hosts (LAN)", "");
  const Answers answers = ask();
  EXPECT_EQ(answers.here.lan.interface, "eth2");
  EXPECT_EQ(answers.here.wan.interface, "eth1");
  EXPECT_TRUE(shows("eth2 looks like the LAN: 5 hosts on its segment. The ports may be swapped."));
}

TEST_F(DialogueTest, TakesMeasuredRatesAsDefaults) {
  int calls = 0;
  user_.types("Rate of the link", "measure").types("ADDRESS", "");
  user_.types("Rate of the link", "measure").types("ADDRESS", "192.0.2.77");
  user_.types("Rate of the link", "measure").types("ADDRESS", "192.0.2.77");
  const Answers answers = ask([&](const std::string& address, std::uint32_t overhead) {
    EXPECT_EQ(address, "192.0.2.77");
    EXPECT_EQ(overhead, 38U);
    // The first run fails.
    if (++calls == 1) return std::optional<MeasuredLink>();
    return std::optional(MeasuredLink{.send = BitRate::bits_per_second(47'900'000),
                                      .receive = BitRate::bits_per_second(9'710'000),
                                      .varies = false});
  });
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(answers.finds_capacity);
  EXPECT_EQ(answers.send_rate, BitRate::bits_per_second(47'900'000));
  EXPECT_EQ(answers.receive_rate, BitRate::bits_per_second(9'710'000));
  EXPECT_TRUE(shows("satperf client ADDRESS --find --overhead ethernet"));
}

TEST_F(DialogueTest, LetsTheEndOfTheInputPass) {
  const LineSource ends = [](const std::string&) -> std::string {
    throw Stopped(StopReason::kInputEnded);
  };
  EXPECT_THROW(Dialogue(setting_, ends, out_, nullptr).ask(), Stopped);
}

}  // namespace
}  // namespace satrelay::ctl::init::dialogue_test
