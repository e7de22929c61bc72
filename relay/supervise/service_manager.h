// Messages to systemd about the state of this program (sd_notify(3)). Without systemd they go
// nowhere.
#pragma once

#include <optional>
#include <string>

#include "pep/base/time.h"

namespace satrelay::supervise {

class ServiceManager {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment, so
  // that the gateway sends no messages of its own.
  ServiceManager();

  // Whether a service manager waits for ready().
  bool is_there() const { return !socket_.empty(); }
  // How often feed() must be called. nullopt if the unit has no WatchdogSec.
  std::optional<Duration> feeding_interval() const { return interval_; }

  void ready() const { notify("READY=1"); }
  void stopping() const { notify("STOPPING=1"); }
  void feed() const { notify("WATCHDOG=1"); }
  // `text` is shown by `systemctl status`; one line.
  void tell(const std::string& text) const { notify("STATUS=" + text); }

 private:
  void notify(const std::string& text) const;

  std::string socket_;  // path; '@' stands for the first octet of an abstract name
  std::optional<Duration> interval_;
};

}  // namespace satrelay::supervise
