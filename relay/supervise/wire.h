// The two ports of a gateway, as its supervisor uses them.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>

#include "config/model/schema.h"
#include "config/outline/read_outline.h"
#include "relay/kernel/wire_bridge.h"
#include "relay/ops/process/port_lock.h"

namespace satrelay::supervise {

class Wire {
 public:
  // Throws std::system_error.
  explicit Wire(const config::Outline& ports);

  // False if a port is no kernel interface. Then no bridge can join the ports, and join() and
  // part() do nothing.
  bool can_be_joined() const { return bridge_.has_value(); }
  // Says that the ports are in use, for this process and the gateways that it starts. Throws
  // ops::AlreadyRunning, or std::system_error.
  void lock();
  // The gateways that this process starts inherit the locks.
  void pass_on_locks() const;

  // Both log what they have done. join() logs a failure, unless it is that of the last call, and
  // returns false. part() throws std::system_error.
  bool join();
  void part();

  // Remembers the MTU of each interface. If a gateway has changed it since an earlier supervisor
  // remembered it, keeps the earlier value.
  void remember_mtus() const;
  // Puts MTUs back that a gateway has changed, and forgets them.
  void put_mtus_back() const;

  // Sets up the interface of a port ("lan" or "wan") as satrelayd does at its start. Returns why
  // that is impossible; empty if it is done.
  std::string prepare(const std::string& port) const;

  // Switches the interface of port lan on or off, if the configuration lets it follow port wan.
  // Logs a failure.
  void switch_lan(bool on) const;

 private:
  // Takes off the program by which a gateway with af_xdp gets all frames.
  void detach_xdp() const;
  void warn_of_firewall() const;

  std::array<config::Port, 2> ports_;
  bool lan_follows_wan_;
  std::optional<kernel::WireBridge> bridge_;
  std::deque<ops::PortLock> locks_;
  std::string last_failure_;  // of join(); empty if the last call has not failed
};

}  // namespace satrelay::supervise
