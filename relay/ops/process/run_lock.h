// One process at a time: a lock file that the kernel releases when its holder ends, however it
// does.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace satrelay::ops {

// Another process holds the lock; what() says which.
class AlreadyRunning : public std::runtime_error {
 public:
  explicit AlreadyRunning(const std::string& message) : std::runtime_error(message) {}
};

class RunLock {
 public:
  // Makes the file if it is not there; it stays. `what` is locked thereby, for the message. Throws
  // AlreadyRunning, or std::system_error.
  RunLock(const std::filesystem::path& file, const std::string& what);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  int descriptor_ = -1;  // no program that this one may execute inherits it
};

// Where DPDK 22.11 puts the sockets of a program with this file prefix
// (eal_create_runtime_dir()), known before it has started.
std::filesystem::path runtime_folder(const std::string& prefix);
// Makes it if it is not there, for this process's user alone. Root takes it back from the user that
// a gateway has become; anybody else's folder is refused. Throws std::system_error.
void make_runtime_folder(const std::filesystem::path& folder);
// Gives it to the user that this process becomes, so that it can remove its sockets at the end.
void give_runtime_folder(const std::filesystem::path& folder, uid_t user);

}  // namespace satrelay::ops
