// Allows one process at a time, by a lock file. The kernel releases the lock when its holder ends,
// even if the holder is killed.
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
  // Creates the file if it is missing, and never removes it. `what`: the thing that the lock
  // protects, for the message. Throws AlreadyRunning, or std::system_error.
  RunLock(const std::filesystem::path& file, const std::string& what);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  int descriptor_ = -1;  // closed on exec, so that no other program inherits the lock
};

// Returns the folder in which DPDK 22.11 (eal_create_runtime_dir()) puts the sockets of a program
// with file prefix `prefix`. May be called before DPDK has started.
std::filesystem::path runtime_folder(const std::string& prefix);
// Creates the folder if it is missing, with access for this process's user only. If an earlier
// gateway has given the folder to another user, root takes it back. Throws std::system_error, also
// if the folder belongs to another user.
void make_runtime_folder(const std::filesystem::path& folder);
// Gives the folder to the user that this process becomes, so that the process can remove its
// sockets at the end.
void give_runtime_folder(const std::filesystem::path& folder, uid_t user);

}  // namespace satrelay::ops
