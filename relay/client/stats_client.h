// A client of DPDK's telemetry socket, version 2: packets of JSON over a UNIX SOCK_SEQPACKET. The
// server sends a greeting with {"version", "pid", "max_output_len"}; it answers a command
// "/path,parameters" with {"/path": value}.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace satrelay::ctl {

// what() tells the operator what failed, and what to do.
class StatsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class StatsClient {
 public:
  // If there is no answer within this time, the worker is assumed to hang. Even a busy worker
  // answers within milliseconds.
  static constexpr std::chrono::seconds kUsualTimeout{2};

  // Connects and reads the greeting. Throws StatsError. If there is `is_stopped`, a call that waits
  // throws within kLook after it returns true.
  StatsClient(const std::filesystem::path& socket, std::chrono::milliseconds timeout,
              std::function<bool()> is_stopped = nullptr);
  static constexpr std::chrono::milliseconds kLook{50};
  StatsClient(const StatsClient&) = delete;
  StatsClient& operator=(const StatsClient&) = delete;
  ~StatsClient();

  // The version in the greeting, such as "DPDK 22.11.11"; empty if there is none.
  const std::string& built_with() const { return built_with_; }
  // The id of the process that serves the socket; nullopt if the kernel does not report it.
  std::optional<pid_t> server() const;
  // The answer to `command`; never null. Identifiers are strings, even if an older gateway wrote
  // them as numbers. Throws StatsError.
  nlohmann::ordered_json query(const std::string& command);
  // Returns the entries of all pages of a listing. `command` must take the parameters
  // "first,count".
  nlohmann::ordered_json query_all(const std::string& command);

 private:
  std::string receive();
  bool goes_on(std::chrono::steady_clock::time_point give_up) const;

  std::string socket_;
  std::chrono::milliseconds timeout_;
  std::function<bool()> is_stopped_;
  std::string built_with_;
  int descriptor_;
  std::size_t longest_reply_;
};

}  // namespace satrelay::ctl
