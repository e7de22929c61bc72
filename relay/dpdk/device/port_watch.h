// Looks after the devices under the ports, on a thread beside the one that works.
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

  // Looks from now on, and tells what has changed on a thread of its own. The ports must outlive
  // it; the EAL runs. Throws std::runtime_error.
  PortWatch(std::span<Port* const> ports, Tell tell);

  // A port cannot be mended while the program runs. Any thread.
  bool needs_new_start() const;

 private:
  void look();

  std::vector<Port*> ports_;
  Tell tell_;
  ControlThread thread_;  // last: it uses all others
};

// "port lan: lan0 is gone; nothing passes there until it is back": for the log.
std::string to_text(const Port& port, const PortChange& change);

}  // namespace satrelay::dpdk
