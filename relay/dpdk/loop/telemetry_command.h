// A command of DPDK's telemetry socket that answers with numbers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace satrelay::dpdk {

// A named group of named numbers.
struct TelemetrySection {
  std::string name;
  std::vector<std::pair<std::string, std::uint64_t>> values;
};
using TelemetryReply = std::vector<TelemetrySection>;

// There may be one object in a process, since DPDK cannot unregister a command, and passes no
// pointer to the callback. Only the polling thread can read the numbers. So the telemetry thread
// sets a flag and waits. The polling thread checks the flag, which costs one load, and answers.
class TelemetryCommand {
 public:
  // Registers `path` ("/program/command"). Needs a running Eal. Throws std::runtime_error.
  TelemetryCommand(const std::string& path, const std::string& help);
  TelemetryCommand(const TelemetryCommand&) = delete;
  TelemetryCommand& operator=(const TelemetryCommand&) = delete;
  ~TelemetryCommand();

  bool is_asked() const { return asked_.load(std::memory_order_relaxed); }
  void answer(TelemetryReply reply);

  // For the telemetry thread. Waits for the answer of the polling thread. Returns nullopt if that
  // thread does not answer in time.
  std::optional<TelemetryReply> ask();

 private:
  std::atomic<bool> asked_ = false;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<TelemetryReply> reply_;
};

}  // namespace satrelay::dpdk
