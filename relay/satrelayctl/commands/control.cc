#include "relay/satrelayctl/commands/control.h"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "relay/client/reply.h"
#include "relay/client/stats_client.h"
#include "relay/ops/control/control_client.h"

namespace satrelay::ctl {
namespace {

constexpr std::chrono::milliseconds kLookEvery(500);

struct Progress {
  std::string boot_epoch;
  std::uint64_t flows = 0;
};

// Returns nullopt if the gateway does not answer.
std::optional<Progress> progress_of(const std::filesystem::path& stats) {
  try {
    StatsClient client(stats, StatsClient::kUsualTimeout);
    const nlohmann::ordered_json status = client.query("/satrelay/status");
    if (!status.is_object()) return std::nullopt;
    return Progress{identifier(status, "boot_epoch"), status.value("flows", std::uint64_t{0})};
  } catch (const StatsError&) {
    return std::nullopt;
  }
}

}  // namespace

int tell(const ControlTarget& target, const std::string& line) {
  const std::string answer = ops::send_control_command(target.control.string(), line);
  if (answer == "ok\n") return 0;
  std::cerr << "satrelayctl: " << (answer.empty() ? "no answer\n" : answer);
  return 1;
}

int drain(const ControlTarget& target, const std::string& line) {
  const std::optional<Progress> before = progress_of(target.stats);
  if (const int status = tell(target, line); status != 0 || !before) return status;
  std::optional<std::uint64_t> shown;
  while (const std::optional<Progress> now = progress_of(target.stats)) {
    if (now->boot_epoch != before->boot_epoch) break;
    if (now->flows != shown) std::cout << "draining: " << now->flows << " left\n" << std::flush;
    shown = now->flows;
    std::this_thread::sleep_for(kLookEvery);
  }
  std::cout << "stopped\n";
  return 0;
}

int reload(const ControlTarget& target, const std::string& line) {
  if (const int status = tell(target, line); status != 0) return status;
  const std::string answer = ops::await_reload(target.control.string(), [] { return true; });
  if (answer == "ok\n") return 0;
  std::cerr << "satrelayctl: nothing has changed: " << answer;
  return 1;
}

std::string option_name(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return "--" + name;
}

}  // namespace satrelay::ctl
