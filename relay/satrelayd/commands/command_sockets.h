// The sockets by which an operator controls a gateway: the control socket and the capture socket.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "config/model/schema.h"
#include "relay/dpdk/loop/control_thread.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/ops/control/control_server.h"
#include "relay/ops/control/socket_access.h"
#include "relay/satrelayd/commands/capture.h"
#include "relay/satrelayd/commands/capture_service.h"
#include "relay/satrelayd/commands/operations.h"

namespace satrelay::satrelayd {

class CommandSockets {
 public:
  // Opens both sockets, unless `control_socket` is `none` in the configuration. `loop`,
  // `operations` and `tap` must outlive this object. Throws std::runtime_error.
  CommandSockets(const config::Gateway& config, const ops::SocketAccess& access,
                 dpdk::PollLoop& loop, Operations& operations, CaptureTap& tap,
                 CaptureService::Epoch epoch);

  // Answers the commands that have arrived. The first worker calls this once a round.
  void service(Instant now) {
    if (control_) control_->service(now);
  }

 private:
  std::optional<ops::ControlServer> control_;
  std::optional<CaptureService> capture_;
  std::optional<dpdk::ControlThread> capture_keeper_;
};

}  // namespace satrelay::satrelayd
