#include "relay/satrelayctl/render_top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace satrelay::ctl {
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
    {"id": 1, "client": "203.0.113.1", "client_port": 40000, "server": "198.51.100.1",
     "server_port": 80, "from_lan_bytes": 0, "to_lan_bytes": 0, "lan_stored_bytes": 0},
    {"id": 2, "client": "2001:db8:1111:2222::1", "client_port": 40001, "server": "2001:db8::2",
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

TEST(RenderTop, FitsTheScreenAndSaysWhatItLeavesOut) {
  TopSample now = sample(12, 1'000);
  for (int i = 3; i < 100; ++i) {
    now.flows.push_back(now.flows[0]);
    now.flows.back()["id"] = i;
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

// A gateway that was restarted in between counts from 0 again; a flow may be new.
TEST(RenderTop, NeverShowsANegativeRate) {
  const std::string text = render_top(sample(10, 1'000'000), sample(12, 10), {});
  EXPECT_EQ(text.find('-'), text.find("half-open") + 4);
  EXPECT_EQ(text.find('-', text.find('-') + 1), std::string::npos);
  EXPECT_NO_THROW(render_top(TopSample(), TopSample(), {}));
}

}  // namespace
}  // namespace satrelay::ctl
