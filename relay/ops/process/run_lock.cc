#include "relay/ops/process/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace satrelay::ops {
namespace {

[[noreturn]] void fail(int error, const std::filesystem::path& file) {
  throw std::system_error(error, std::generic_category(), "cannot lock " + file.string());
}

// True if the locked file is still the file at this path. If another file has replaced it, other
// processes would lock the new file.
bool is_in_place(int descriptor, const std::filesystem::path& file) {
  struct stat locked {};
  struct stat found {};
  return ::fstat(descriptor, &locked) == 0 && ::lstat(file.c_str(), &found) == 0 &&
         locked.st_ino == found.st_ino && locked.st_dev == found.st_dev;
}

// Describes the process that holds the lock, for a message. Reads the file several times: the
// holder may have locked it just now, and may not have written its process ID yet.
std::string holder_of(int descriptor) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::array<char, 16> text{};
    const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
    const long pid = size > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
    if (pid > 0) return "process " + std::to_string(pid);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return "another process";
}

std::string already_uses(const std::string& holder, const std::string& what,
                         const std::filesystem::path& file) {
  std::string message = holder;
  message.append(" uses ").append(what).append(" already (it holds ");
  message.append(file.string()).append(")");
  return message;
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& file, const std::string& what) {
  while (true) {
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) fail(errno, file);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = error == EWOULDBLOCK ? holder_of(descriptor_) : "";
      ::close(descriptor_);
      if (error != EWOULDBLOCK) fail(error, file);
      throw AlreadyRunning(already_uses(holder, what, file));
    }
    if (is_in_place(descriptor_, file)) break;
    ::close(descriptor_);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // An error does no harm here: only the error messages of other processes use the process ID.
  [[maybe_unused]] const bool written =
      ::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size());
}

RunLock::~RunLock() { ::close(descriptor_); }

void RunLock::pass_on() const { ::fcntl(descriptor_, F_SETFD, 0); }

void refuse_if_locked(const std::filesystem::path& file, const std::string& what) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;  // there is no such lock
  const bool is_free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  const std::string holder = is_free ? "" : holder_of(descriptor);
  ::close(descriptor);
  if (!is_free) throw AlreadyRunning(already_uses(holder, what, file));
}

std::filesystem::path runtime_folder(const std::string& prefix) {
  const char* folder = std::getenv("RUNTIME_DIRECTORY");
  if (folder == nullptr && ::getuid() == 0) folder = "/var/run";
  if (folder == nullptr) folder = std::getenv("XDG_RUNTIME_DIR");
  return std::filesystem::path(folder != nullptr ? folder : "/tmp") / "dpdk" / prefix;
}

void make_runtime_folder(const std::filesystem::path& folder) {
  const auto fail_here = [](int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
  };
  for (const auto& each : {folder.parent_path(), folder}) {
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST) {
      fail_here(errno, "cannot make " + each.string());
    }
  }
  // Use a descriptor instead of the path, so that no process can replace the folder between the
  // calls.
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) fail_here(errno, "cannot use " + folder.string());
  const bool is_ours = ::fchown(descriptor, ::geteuid(), static_cast<gid_t>(-1)) == 0 &&
                       ::fchmod(descriptor, 0700) == 0;
  const int error = errno;
  ::close(descriptor);
  if (!is_ours) fail_here(error, folder.string() + " belongs to another user");
}

void give_runtime_folder(const std::filesystem::path& folder, uid_t user) {
  // make_runtime_folder() and DPDK create the parent folder with access for its owner only. Let
  // other users pass through it. If the configuration lets them use a socket, they may already list
  // it, which is how they find the socket: add rights, and take none.
  using std::filesystem::perms;
  std::filesystem::permissions(folder.parent_path(), perms::group_exec | perms::others_exec,
                               std::filesystem::perm_options::add);
  if (::lchown(folder.c_str(), user, static_cast<gid_t>(-1)) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot give away " + folder.string());
  }
}

}  // namespace satrelay::ops
