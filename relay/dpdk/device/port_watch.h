// Watches the devices of the ports in a thread of its own.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/loop/control_thread.h"

namespace satrelay::dpdk {

class PortWatch {
 public:
  static constexpr Duration kInterval = Duration::milliseconds(200);
  using Tell = std::function<void(const Port& port, const PortChange& change)>;

  // Starts a thread that calls Port::look() for all ports every kInterval, and `tell` for each
  // change. The ports must outlive this object. Needs a running Eal. Throws std::runtime_error.
  PortWatch(std::span<Port* const> ports, Tell tell);

  // True if a port cannot recover while the program runs. Any thread may call this.
  bool needs_new_start() const;

 private:
  void look();

  std::vector<Port*> ports_;
  Tell tell_;
  ControlThread thread_;  // declared last, since the thread uses all other members
};

// The text for the log: "port lan: lan0 is gone; nothing passes there until it is back".
std::string to_text(const Port& port, const PortChange& change);

}  // namespace satrelay::dpdk
