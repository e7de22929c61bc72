#include "relay/dpdk/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace satrelay::dpdk {
namespace {

struct Name {
  int capability;
  const char* name;
};
constexpr Name kNames[] = {{CAP_NET_ADMIN, "CAP_NET_ADMIN"}, {CAP_IPC_LOCK, "CAP_IPC_LOCK"}};

// What a thread of this process asks of another can only be done by that other, in a handler.
constexpr int kSignalOffset = 5;
std::atomic<std::uint64_t> wanted = 0;

// Async-signal-safe: system calls and nothing else. Without the right to do so the first of them
// fails, which is as good: what is not in the permitted set does not come back.
void drop_in_this_thread() {
  const std::uint64_t keep = wanted.load();
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if ((keep >> capability & 1) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capget, &header, sets) != 0) return;
  for (int half = 0; half < 2; ++half) {
    const auto kept = static_cast<std::uint32_t>(keep >> (32 * half));
    sets[half].permitted &= kept;
    sets[half].effective &= kept;
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

// 0 for a thread that has just ended.
std::uint64_t permitted_of(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kKey = "CapPrm:\t";
    if (!line.starts_with(kKey)) continue;
    std::uint64_t bits = 0;
    std::from_chars(line.data() + kKey.size(), line.data() + line.size(), bits, 16);
    return bits;
  }
  return 0;
}

std::vector<pid_t> threads_with_more_than(std::uint64_t keep) {
  std::vector<pid_t> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if ((permitted_of(task.path()) & ~keep) == 0) continue;
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

std::string keep_only(std::span<const int> capabilities) {
  std::uint64_t keep = 0;
  for (const int capability : capabilities) keep |= std::uint64_t{1} << capability;
  wanted = keep;
  drop_in_this_thread();

  const int number = SIGRTMIN + kSignalOffset;
  struct sigaction action {};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  // It stays: a signal that comes late must find it.
  ::sigaction(number, &action, nullptr);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  // Again and again: a thread that has not obeyed yet may have started another one.
  std::vector<pid_t> left = threads_with_more_than(keep);
  while (!left.empty() && std::chrono::steady_clock::now() < deadline) {
    for (const pid_t thread : left) ::syscall(SYS_tgkill, ::getpid(), thread, number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    left = threads_with_more_than(keep);
  }
  if (!left.empty()) {
    throw std::runtime_error("capabilities: " + std::to_string(left.size()) +
                             " threads do not give them up");
  }
  return names_of(permitted_of("/proc/thread-self"));
}

}  // namespace satrelay::dpdk
