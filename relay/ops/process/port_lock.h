// One process at a time may use a kernel interface as a port.
#pragma once

#include <filesystem>
#include <string>

#include "relay/ops/process/run_lock.h"

namespace satrelay::ops {

// The folder with the files about ports of this machine: /run/satrelay, and for other users than
// root a folder of their own. Creates it if it is missing. Throws std::system_error.
std::filesystem::path port_folder();

// Returns the path of a file about the interface `name` of this network namespace. Each namespace
// has files of its own. Throws std::system_error.
std::filesystem::path port_file(const std::string& name, const std::string& suffix);

// Throws AlreadyRunning, which names the other process, or std::system_error.
class PortLock {
 public:
  explicit PortLock(const std::string& interface);
  // Programs that this process executes hold the lock as well, until they end.
  void pass_on() const { lock_.pass_on(); }

 private:
  RunLock lock_;
};

}  // namespace satrelay::ops
