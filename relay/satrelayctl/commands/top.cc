#include "relay/satrelayctl/commands/top.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "relay/client/stats_client.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/views/render_top.h"
#include "relay/satrelayctl/views/screen.h"

namespace satrelay::ctl {
namespace {

// The largest number of flows to read. It limits the work of the gateway: each page of flows is a
// request to the worker, and a screen needs at most 20 pages.
constexpr std::size_t kMostFlows = 240;
constexpr std::size_t kMostRules = 1000;

nlohmann::ordered_json some_of(StatsClient& client, const std::string& command, std::size_t most) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  while (all.size() < most) {
    nlohmann::ordered_json page = client.query(command + "," + std::to_string(all.size()));
    if (!page.is_object() || page.empty()) break;
    for (nlohmann::ordered_json& entry : page) all.push_back(std::move(entry));
  }
  return all;
}

TopSample take_sample(StatsClient& client) {
  TopSample sample;
  sample.status = client.query("/satrelay/status");
  sample.peers = some_of(client, "/satrelay/peers", kMostRules);
  sample.rules = some_of(client, "/satrelay/rules", kMostRules);
  sample.classes = some_of(client, "/satrelay/classes", kMostRules);
  sample.flows = some_of(client, "/satrelay/flows", kMostFlows);
  sample.flows_in_all = sample.status.value("flows", std::size_t{0});
  sample.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return sample;
}

}  // namespace

int top(const std::filesystem::path& stats_socket, const TopOptions& options) {
  StatsClient client(stats_socket, StatsClient::kUsualTimeout);
  TopSample before = take_sample(client);
  heed_interruptions();
  if (options.once || ::isatty(STDOUT_FILENO) == 0) {
    waits(std::chrono::milliseconds(static_cast<int>(options.interval * 1000)));
    std::cout << render_top(before, take_sample(client), ScreenSize{}) << std::flush;
    return std::cout ? 0 : 1;
  }
  const Screen screen;
  Screen::show("The first figures appear in a moment; q ends the program.\n");
  while (!screen.quits_within(options.interval)) {
    TopSample now = take_sample(client);
    Screen::show(render_top(before, now, Screen::size()));
    before = std::move(now);
  }
  return 0;
}

}  // namespace satrelay::ctl
