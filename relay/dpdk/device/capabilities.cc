#include "relay/dpdk/device/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace satrelay::dpdk {
namespace {

struct Name {
  int capability;
  const char* name;
};
constexpr Name kNames[] = {{CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {CAP_IPC_LOCK, "CAP_IPC_LOCK"}};

// A thread can change only its own rights. So each thread gets the signal SIGRTMIN + kSignalOffset,
// and changes its rights in the signal handler.
constexpr int kSignalOffset = 5;
struct Wanted {
  std::uint64_t capabilities = 0;
  bool other_user = false;
  uid_t user = 0;
  gid_t group = 0;
  std::size_t group_count = 0;
  std::array<gid_t, Identity::kMostGroups> groups{};
};
// Written before the first signal, and only read from then on.
Wanted wanted;

// Uses raw system calls for this thread. The functions of glibc would change all threads, and would
// lock glibc's list of threads for that, which is not safe in a signal handler.
void become_another_user() {
  // Without this, the change from uid 0 would clear the permitted capabilities.
  ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  ::syscall(SYS_setgroups, wanted.group_count, wanted.groups.data());
  ::syscall(SYS_setresgid, wanted.group, wanted.group, wanted.group);
  ::syscall(SYS_setresuid, wanted.user, wanted.user, wanted.user);
  ::prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
}

// Async-signal-safe, since it makes only system calls. It reports no errors: keep_only() checks the
// result in /proc. If a thread has no capabilities left, some of the calls fail, which does no
// harm.
void drop_in_this_thread() {
  const std::uint64_t keep = wanted.capabilities;
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if ((keep >> capability & 1) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (wanted.other_user) become_another_user();
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return;
  for (int half = 0; half < 2; ++half) {
    const auto kept = static_cast<std::uint32_t>(keep >> (32 * half));
    sets[half].permitted &= kept;
    sets[half].effective = sets[half].permitted;  // a change of user empties the effective set
    sets[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, sets) != 0) return;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void handle_signal(int) {
  const int error = errno;
  drop_in_this_thread();
  errno = error;
}

// Returns the rest of the line that begins with `key` in the status of a thread in /proc. Empty if
// the thread has just ended.
std::string status_of(const std::filesystem::path& task, std::string_view key) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

std::uint64_t permitted_of(const std::filesystem::path& task) {
  const std::string text = status_of(task, "CapPrm:\t");
  std::uint64_t bits = 0;
  std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  return bits;
}

// Four equal IDs, as /proc prints them: real, effective, saved and file-system ID.
std::string four_times(unsigned id) {
  std::string text = std::to_string(id);
  for (int i = 0; i < 3; ++i) text += '\t' + std::to_string(id);
  return text;
}

bool has_wanted_groups(const std::filesystem::path& task) {
  std::istringstream words(status_of(task, "Groups:\t"));
  std::vector<gid_t> groups;
  for (gid_t group = 0; words >> group;) groups.push_back(group);
  const auto end = wanted.groups.begin() + static_cast<std::ptrdiff_t>(wanted.group_count);
  return std::is_permutation(groups.begin(), groups.end(), wanted.groups.begin(), end);
}

bool obeys(const std::filesystem::path& task) {
  const std::string users = status_of(task, "Uid:\t");
  if (users.empty()) return true;
  if ((permitted_of(task) & ~wanted.capabilities) != 0) return false;
  return !wanted.other_user ||
         (users == four_times(wanted.user) &&
          status_of(task, "Gid:\t") == four_times(wanted.group) && has_wanted_groups(task));
}

std::vector<pid_t> threads_that_disobey() {
  std::vector<pid_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (obeys(task.path())) continue;
    threads.push_back(static_cast<pid_t>(std::stol(task.path().filename().string())));
  }
  return threads;
}

std::string names_of(std::uint64_t permitted) {
  std::string names;
  for (const Name& each : kNames) {
    if ((permitted >> each.capability & 1) == 0) continue;
    if (!names.empty()) names += ", ";
    names += each.name;
  }
  return names.empty() ? "none" : names;
}

}  // namespace

std::string keep_only(std::span<const int> capabilities, const std::optional<Identity>& identity) {
  wanted = {};
  for (const int capability : capabilities) wanted.capabilities |= std::uint64_t{1} << capability;
  if (identity) {
    wanted.other_user = true;
    wanted.user = identity->user;
    wanted.group = identity->group;
    wanted.group_count = std::min(identity->groups.size(), Identity::kMostGroups);
    std::copy_n(identity->groups.begin(), wanted.group_count, wanted.groups.begin());
  }
  // The kernel clears the parent-death signal when the user changes. Set it again, so that a
  // process that must end with its parent still ends.
  int signal_of_parent = 0;
  ::prctl(PR_GET_PDEATHSIG, &signal_of_parent, 0, 0, 0);
  drop_in_this_thread();
  if (signal_of_parent != 0) ::prctl(PR_SET_PDEATHSIG, signal_of_parent, 0, 0, 0);

  const int number = SIGRTMIN + kSignalOffset;
  struct sigaction action {};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  // The handler stays installed, since a signal may arrive late.
  ::sigaction(number, &action, nullptr);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  // Check again after each round of signals: a thread that still has its rights may have started
  // another thread.
  std::vector<pid_t> left = threads_that_disobey();
  while (!left.empty() && std::chrono::steady_clock::now() < deadline) {
    for (const pid_t thread : left) ::syscall(SYS_tgkill, ::getpid(), thread, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    left = threads_that_disobey();
  }
  if (!left.empty()) {
    throw std::runtime_error("root's rights: " + std::to_string(left.size()) +
                             " threads do not give them up");
  }
  if (identity) ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  return names_of(permitted_of("/proc/thread-self"));
}

}  // namespace satrelay::dpdk
