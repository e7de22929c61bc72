// Allows one process at a time, by means of a lock file. The kernel releases the lock when the
// process that holds it ends, even if that process is killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace satrelay::ops {

// Thrown if another process holds the lock; what() names that process.
class AlreadyRunning : public std::runtime_error {
 public:
  explicit AlreadyRunning(const std::string& message) : std::runtime_error(message) {}
};

class RunLock {
 public:
  // Creates the file if it is missing, and never removes it. `what` names the thing that the lock
  // protects, for the message. Throws AlreadyRunning, or std::system_error.
  RunLock(const std::filesystem::path& file, const std::string& what);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

  // Programs that this process executes inherit the lock. Without this call none does.
  void pass_on() const;

 private:
  int descriptor_ = -1;
};

// Throws AlreadyRunning if another process holds the lock. Creates no file. Holds the lock itself
// for a moment only.
void refuse_if_locked(const std::filesystem::path& file, const std::string& what);

// Returns the folder in which DPDK 22.11 (eal_create_runtime_dir()) puts the sockets of a program
// with the file prefix `prefix`. May be called before DPDK has started.
std::filesystem::path runtime_folder(const std::string& prefix);
// Creates the folder if it is missing, with access for this process's user only. Root takes back a
// folder that an earlier gateway gave to another user. Throws std::system_error, also if the folder
// belongs to another user and this process is not root.
void make_runtime_folder(const std::filesystem::path& folder);
// Makes `user` the owner of the folder. If this process then changes to that user, it can still
// remove its sockets when it exits.
void give_runtime_folder(const std::filesystem::path& folder, uid_t user);

}  // namespace satrelay::ops
