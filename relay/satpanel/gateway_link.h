// The panel's connection to a gateway: queries to its stats socket, lines to its control socket.
// All functions may be called in any thread. Each query uses a connection alone, and a few
// connections stay open.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "relay/client/stats_client.h"
#include "relay/metrics/readings.h"

namespace satrelay::panel {

using Json = nlohmann::ordered_json;

struct GatewaySockets {
  std::string stats;    // a path, a stats_socket_prefix, or "": this machine's only gateway
  std::string control;  // a path; "": the control socket beside the stats socket
};

class GatewayLink {
 public:
  explicit GatewayLink(GatewaySockets sockets) : sockets_(std::move(sockets)) {}

  // Returns the answer's value; never null. Throws ctl::StatsError that says what is wrong.
  Json query(const std::string& command);
  // Returns the entries of a listing from `first` on, `count` at most.
  Json query_page(const std::string& command, std::size_t first, std::size_t count);
  Json query_all(const std::string& command);
  // Reads all figures at once. Never throws ctl::StatsError.
  metrics::Readings read();
  // Returns the lines that the control socket answers. Throws std::runtime_error.
  std::string control(const std::string& line) const;
  // The same as ops::await_reload().
  std::string await_reload(const std::function<bool()>& go_on) const;
  // Throws ctl::StatsError.
  std::filesystem::path stats_socket() const;

 private:
  template <typename Ask>
  auto with_client(const Ask& ask);
  std::string control_socket() const;

  GatewaySockets sockets_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ctl::StatsClient>> idle_;
};

}  // namespace satrelay::panel
