// The process of a gateway, as its supervisor sees it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "relay/supervision/channel.h"

namespace satrelay::supervise {

// Returns the gateway's program: $SATRELAYD, or the one beside this program, or the one in PATH.
std::string gateway_program();

// The status of a process whose program cannot be executed.
inline constexpr int kCannotExecute = 127;

class GatewayProcess {
 public:
  // Starts the program, which inherits the gateway's end of a new channel. Its process group is its
  // own, so that Ctrl-C reaches only the supervisor. Throws std::system_error.
  explicit GatewayProcess(const std::vector<std::string>& arguments);
  GatewayProcess(const GatewayProcess&) = delete;
  GatewayProcess& operator=(const GatewayProcess&) = delete;
  // Kills the process if it still runs.
  ~GatewayProcess();

  const supervision::Channel& channel() const { return channel_; }
  void signal(int number) const;
  // Returns the exit status if the process has ended; 128 + N if signal N has ended it.
  std::optional<int> status();

 private:
  GatewayProcess(const std::vector<std::string>& arguments, supervision::ChannelPair channel);

  supervision::Channel channel_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace satrelay::supervise
