#include "relay/satrelayctl/views/render_top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace satrelay::ctl::render_top_test {
namespace {

using Json = nlohmann::ordered_json;

TopSample sample(double seconds, std::uint64_t bytes) {
  TopSample sample;
  sample.seconds = seconds;
  sample.status = Json::parse(R"({"uptime_ms": 60000, "flows": 2, "half_open": 0,
    "arena_bytes": 1048576, "arena_used_bytes": 524288, "new_flows": "bypass"})");
  sample.peers = Json::parse(R"([{"name": "ship", "state": "alive", "rtt_us": 550000,
    "loss_ppm": 10000, "streams": 2, "send_rate_bps": 1000000, "counters": {}}])");
  sample.peers[0]["counters"] = {{"bytes_out", bytes}, {"bytes_in", bytes / 2}};
  sample.rules = Json::parse(R"([
    {"rule": 1, "name": "", "action": "drop", "dropped_frames": 5},
    {"rule": 2, "name": "web", "action": "accelerate"},
    {"rule": 0, "name": "", "action": "bridge"}])");
  sample.rules[1]["from_lan_bytes"] = bytes;
  sample.rules[2]["bridged_bytes"] = bytes / 10;
  sample.flows = Json::parse(R"([
    {"id": "1", "client": "203.0.113.1", "client_port": 40000, "server": "198.51.100.1",
     "server_port": 80, "from_lan_bytes": 0, "to_lan_bytes": 0, "lan_stored_bytes": 0},
    {"id": "2", "client": "2001:db8:1111:2222::1", "client_port": 40001, "server": "2001:db8::2",
     "server_port": 443, "to_lan_bytes": 0, "lan_stored_bytes": 1024}])");
  sample.flows[1]["from_lan_bytes"] = bytes;
  sample.flows_in_all = 2;
  return sample;
}

TEST(RenderTop, ShowsRatesBetweenTwoSamples) {
  EXPECT_EQ(render_top(sample(10, 1'000'000), sample(12, 1'125'000), {}),
            "up 1 min 00 s   flows 2, half-open 0   new flows bridged (bypass)   memory 50.0~\n"
            "\n"
            "peer  state     rtt   loss  flows       sends  of link    receives\n"
            "ship  alive  550 ms  1.00%      2  500 kbit/s   50.00%  250 kbit/s\n"
            "\n"
            "rule   action        from lan   to lan      bridged  dropped\n"
            "2 web  accelerate  500 kbit/s  0 bit/s      0 bit/s      0/s\n"
            "none   bridge         0 bit/s  0 bit/s  50.0 kbit/s      0/s\n"
            "\n"
            "flow  client              server               from lan   to lan   waiting\n"
            "   2  [2001:db8:1~:40001  [2001:db8::2]:443  500 kbit/s  0 bit/s  1.00 KiB\n"
            "   1  203.0.113.1:40000   198.51.100.1:80       0 bit/s  0 bit/s       0 B\n");
}

Json traffic_class(const char* name, std::uint64_t relayed, std::uint64_t bridged) {
  return {{"name", name},
          {"weight", 1U},
          {"guaranteed_bps", 0U},
          {"maximum_bps", 0U},
          {"hosts", 0U},
          {"held_frames", 0U},
          {"held_bytes", 0U},
          {"relayed_bytes", relayed},
          {"bridged_bytes", bridged},
          {"dropped_frames", 0U}};
}

// The part of the screen from the line that begins with the word, up to the next empty line.
std::string table_of(const std::string& screen, const std::string& word) {
  const std::size_t begin = screen.find("\n" + word + ' ');
  if (begin == std::string::npos) return "";
  return screen.substr(begin + 1, screen.find("\n\n", begin) - begin);
}

TEST(RenderTop, ShowsTheBusiestClasses) {
  TopSample before = sample(10, 0);
  before.classes = {traffic_class("idle", 500, 500), traffic_class("voice", 0, 1'000),
                    traffic_class("bulk", 1'000, 0), traffic_class("relayed", 0, 0),
                    traffic_class("bridged", 0, 0)};
  TopSample now = sample(12, 0);
  now.classes = before.classes;
  now.classes[1]["guaranteed_bps"] = 2'000'000U;
  now.classes[1]["bridged_bytes"] = 26'000U;
  now.classes[1]["relayed_bytes"] = 25'000U;
  now.classes[1]["weight"] = 4U;
  now.classes[2]["maximum_bps"] = 5'000'000U;
  now.classes[2]["relayed_bytes"] = 1'251'000U;
  now.classes[2]["hosts"] = 12U;
  now.classes[2]["held_bytes"] = 1'048'576U;
  now.classes[2]["dropped_frames"] = 20U;
  now.classes[4]["weight"] = 0U;
  now.classes[4]["held_frames"] = 1U;  // a class that holds a frame and sends nothing
  EXPECT_EQ(table_of(render_top(before, now, {}), "class"),
            "class    weight   guaranteed      maximum        sends  hosts   waiting  dropped\n"
            "bulk          1            -  5.00 Mbit/s  5.00 Mbit/s     12  1.00 MiB     10/s\n"
            "voice         4  2.00 Mbit/s            -   200 kbit/s      0       0 B      0/s\n"
            "bridged       -            -            -      0 bit/s      0       0 B      0/s\n");
}

TEST(RenderTop, WithoutNamesShowsOnlyWhatIsInUse) {
  TopSample before = sample(10, 0);
  before.classes = {traffic_class("relayed", 0, 0), traffic_class("bridged", 0, 0)};
  TopSample now = sample(12, 0);
  now.classes = before.classes;
  EXPECT_EQ(render_top(before, now, {}).find("class"), std::string::npos);
  now.classes[0]["relayed_bytes"] = 250U;
  EXPECT_EQ(table_of(render_top(before, now, {}), "class"),
            "class    weight  guaranteed  maximum        sends  hosts  waiting  dropped\n"
            "relayed       1           -        -  1.00 kbit/s      0      0 B      0/s\n");
  now.classes[0]["relayed_bytes"] = 0U;
  now.classes[1]["dropped_frames"] = 4U;
  EXPECT_NE(table_of(render_top(before, now, {}), "class").find("\nbridged"), std::string::npos);
}

TEST(RenderTop, NamesOfClassesGetWhatTheFiguresLeave) {
  const std::string name = "traffic-of-which-there-is-a-lot";
  TopSample before = sample(10, 0);
  before.classes = {traffic_class(name.c_str(), 0, 0), traffic_class("bridged", 0, 0)};
  TopSample now = sample(12, 0);
  now.classes = {traffic_class(name.c_str(), 2'000'000, 1), traffic_class("bridged", 0, 1)};
  now.classes[0]["guaranteed_bps"] = now.classes[0]["maximum_bps"] = 2'000'000U;
  now.classes[0]["held_bytes"] = 2'000'000U;
  const std::string narrow = table_of(render_top(before, now, {}), "class");
  EXPECT_NE(narrow.find("\ntraffi~ "), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("\nbridged "), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find('\n'), 80U) << narrow;
  const std::string wide = table_of(render_top(before, now, {24, 120}), "class");
  EXPECT_NE(wide.find('\n' + name + ' '), std::string::npos) << wide;
}

// A terminal of 24 lines shows some flows, however many peers, rules and classes there are. top
// leaves the last line empty.
TEST(RenderTop, NoTableCrowdsOutAnother) {
  TopSample before = sample(10, 0);
  TopSample now = sample(12, 0);
  for (unsigned i = 0; i < 10; ++i) {
    const std::string name = "name-" + std::to_string(i);
    now.peers.push_back(now.peers[0]);
    now.peers.back()["name"] = name;
    before.rules.push_back(before.rules[2]);
    before.rules.back()["rule"] = 10 + i;
    now.rules.push_back(before.rules.back());
    now.rules.back()["bridged_bytes"] = 1'000U;
    before.classes.push_back(traffic_class(name.c_str(), 0, 0));
    now.classes.push_back(traffic_class(name.c_str(), 1'000, 0));
    now.flows.push_back(now.flows[0]);
    now.flows.back()["id"] = std::to_string(10 + i);
  }
  now.flows_in_all = 5'000;
  const auto rows = [&](const std::string& screen, const char* word) {
    const std::string table = table_of(screen, word);
    return std::ranges::count(table, '\n') - 1;
  };
  const std::string small = render_top(before, now, {23, 80});
  EXPECT_EQ(std::ranges::count(small, '\n'), 23);
  for (const char* word : {"peer", "rule", "class"}) EXPECT_EQ(rows(small, word), 3) << small;
  EXPECT_EQ(rows(small, "flow"), 5) << small;  // the last row says how many there are
  const std::string large = render_top(before, now, {40, 80});
  EXPECT_EQ(rows(large, "peer"), 6) << large;
  EXPECT_EQ(rows(large, "rule"), 4) << large;
  EXPECT_EQ(rows(large, "class"), 4) << large;
  EXPECT_EQ(rows(large, "flow"), 13) << large;
  // If there are few flows, no room is reserved for them.
  now.flows = Json::array();
  now.flows_in_all = 0;
  EXPECT_EQ(rows(render_top(before, now, {23, 80}), "peer"), 6);
}

TEST(RenderTop, FitsTheScreenAndSaysWhatItLeavesOut) {
  TopSample now = sample(12, 1'000);
  now.classes = {traffic_class("bulk", 1, 0)};
  for (int i = 3; i < 100; ++i) {
    now.flows.push_back(now.flows[0]);
    now.flows.back()["id"] = std::to_string(i);
  }
  now.flows_in_all = 5'000;
  for (const ScreenSize size : {ScreenSize{24, 80}, ScreenSize{12, 40}, ScreenSize{1, 10}}) {
    std::istringstream lines(render_top(sample(10, 500), now, size));
    std::size_t count = 0;
    std::string last;
    for (std::string line; std::getline(lines, line); ++count) {
      EXPECT_LE(line.size(), size.columns);
      last = line;
    }
    EXPECT_LE(count, size.rows);
    if (size.rows == 24) {
      EXPECT_EQ(last, "of the first 99 flows of 5 000");
    }
  }
}

// A gateway that was restarted in between counts from 0 again. A flow may be new.
TEST(RenderTop, NeverShowsANegativeRate) {
  const std::string text = render_top(sample(10, 1'000'000), sample(12, 10), {});
  EXPECT_EQ(text.find('-'), text.find("half-open") + 4);
  EXPECT_EQ(text.find('-', text.find('-') + 1), std::string::npos);
  EXPECT_NO_THROW(render_top(TopSample(), TopSample(), {}));
}

}  // namespace
}  // namespace satrelay::ctl::render_top_test
