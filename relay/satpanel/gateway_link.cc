#include "relay/satpanel/gateway_link.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "relay/client/socket_search.h"
#include "relay/ops/control/control_client.h"

namespace satrelay::panel {
namespace {

constexpr std::chrono::seconds kPatience(2);
// The number of idle connections that stay open. DPDK's socket serves only ten clients at once, and
// the panel must leave some of these places to satrelayctl.
constexpr std::size_t kMostIdle = 4;

}  // namespace

std::filesystem::path GatewayLink::stats_socket() const {
  return ctl::choose_stats_socket(sockets_.stats, ctl::runtime_folders());
}

template <typename Ask>
auto GatewayLink::with_client(const Ask& ask) {
  std::unique_ptr<ctl::StatsClient> client;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      client = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  std::optional<std::invoke_result_t<const Ask&, ctl::StatsClient&>> answer;
  if (client != nullptr) {
    try {
      answer = ask(*client);
    } catch (const ctl::StatsError&) {
      // The gateway may have restarted since the connection was made. Drop all idle connections,
      // and try again with a new one.
      const std::lock_guard lock(mutex_);
      idle_.clear();
    }
  }
  if (!answer) {
    client = std::make_unique<ctl::StatsClient>(stats_socket(), kPatience);
    answer = ask(*client);
  }
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(client));
  return std::move(*answer);
}

Json GatewayLink::query(const std::string& command) {
  return with_client([&](ctl::StatsClient& client) { return client.query(command); });
}

Json GatewayLink::query_page(const std::string& command, std::size_t first, std::size_t count) {
  return with_client([&](ctl::StatsClient& client) {
    Json entries = Json::array();
    while (entries.size() < count) {
      Json page = client.query(command + "," + std::to_string(first + entries.size()) + "," +
                               std::to_string(count - entries.size()));
      if (!page.is_object() || page.empty()) break;
      for (Json& entry : page) entries.push_back(std::move(entry));
    }
    return entries;
  });
}

Json GatewayLink::query_all(const std::string& command) {
  return with_client([&](ctl::StatsClient& client) { return client.query_all(command); });
}

metrics::Readings GatewayLink::read() {
  try {
    return with_client([](ctl::StatsClient& client) {
      metrics::Readings readings = metrics::read_gateway(client);
      // Throw, so that with_client() drops the broken connection instead of keeping it.
      if (!readings.up) throw ctl::StatsError(readings.error);
      return readings;
    });
  } catch (const ctl::StatsError& error) {
    metrics::Readings readings;
    readings.error = error.what();
    return readings;
  }
}

std::string GatewayLink::control_socket() const {
  return sockets_.control.empty() ? (stats_socket().parent_path() / "control.sock").string()
                                  : sockets_.control;
}

std::string GatewayLink::control(const std::string& line) const {
  return ops::send_control_command(control_socket(), line);
}

std::string GatewayLink::await_reload(const std::function<bool()>& go_on) const {
  return ops::await_reload(control_socket(), go_on);
}

}  // namespace satrelay::panel
