// Runs a gateway, and starts it again when it fails. While the gateway does not forward, a kernel
// bridge joins its ports. The bridge and the gateway never forward at the same time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "relay/supervise/gateway_process.h"
#include "relay/supervise/service_manager.h"
#include "relay/supervise/wire.h"

namespace satrelay::supervise {

// The exit statuses of satrelayd to which the supervisor reacts (docs/guide.md).
inline constexpr int kStopped = 0;
inline constexpr int kBadConfiguration = 2;
inline constexpr int kStartAgain = 3;
inline constexpr int kAlreadyRunning = 4;

class Supervision {
 public:
  // `command`: the gateway's program and its arguments. `may_start` is called before each start; it
  // returns why the gateway must not be started, or nothing. `wire` must outlive this object.
  Supervision(std::vector<std::string> command, std::function<std::string()> may_start, Wire& wire,
              ServiceManager manager);
  Supervision(const Supervision&) = delete;
  Supervision& operator=(const Supervision&) = delete;
  ~Supervision();

  // Returns when the gateway has ended and must not be started again. The result is its status.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t {
    kStarting,    // the bridge forwards
    kForwarding,  // the gateway forwards
    kEnding,      // the gateway forwards no more, and the bridge does
    kKilled,      // nothing forwards until the kernel has ended the gateway
  };

  int run_once();
  bool start();
  void take_signals();
  void take_messages();
  void on_message(const supervision::Message& message);
  void on_ready();
  void on_prepare(const std::string& port);
  void look_at_deadline(Clock::time_point now);
  void kill(const std::string& why);
  void join();
  // Waits for signals, messages and deadlines.
  void wait(Clock::time_point until);
  bool must_end(int status) const;
  void rest(int status, Clock::duration pause);

  std::vector<std::string> command_;
  std::function<std::string()> may_start_;
  Wire& wire_;
  ServiceManager manager_;
  int signals_ = -1;  // a signalfd(2)
  std::optional<GatewayProcess> gateway_;
  State state_ = State::kStarting;
  bool channel_is_open_ = false;
  bool is_stopping_ = false;
  bool has_forwarded_ = false;                     // any gateway since the start of this program
  Clock::time_point deadline_;                     // of the present state
  std::array<Clock::time_point, 2> next_prepare_;  // of each port
  Clock::time_point next_feed_;
  Clock::time_point next_join_;
};

}  // namespace satrelay::supervise
