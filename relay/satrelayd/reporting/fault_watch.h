// Looks for faults of the gateway, its file and its machine from time to time, and makes an event
// of the begin and of the end of each. A thread of its own reads the facts, since files and the
// kernel may be slow. No worker waits for it, and it takes one connection of the stats socket while
// it reads.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>
#include <string>

#include "relay/dpdk/device/dpdk_version.h"
#include "relay/ops/events/event.h"
#include "relay/satrelayd/reporting/gateway_changes.h"

namespace satrelay::satrelayd {

class FaultWatch {
 public:
  // `file` is the file of the gateway. `changes` has a running configuration. Needs a running Eal
  // with its stats socket. Throws std::runtime_error.
  FaultWatch(const std::string& file, std::shared_ptr<const GatewayChanges> changes,
             std::function<void(ops::Event)> tell);
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;
  // Waits for the end of the thread for at most 100 ms. If a file blocks the thread for longer, it
  // goes on alone, and uses nothing of the gateway any more.
  ~FaultWatch();
  // Whether a thread went on alone. It still uses static objects, such as those of the libraries,
  // so the program must then end by _exit(), which destroys none of them.
  static bool has_left_a_thread();

  // The thread tells nothing from now on, and ends soon. Does not wait.
  void stop();

 private:
  struct Shared;
  static dpdk::ThreadResult enter(void* shared);

  std::shared_ptr<Shared> shared_;
  pthread_t thread_{};
};

}  // namespace satrelay::satrelayd
