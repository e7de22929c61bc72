#include "tests/bench/core_counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "pep/base/check.h"

namespace satrelay::bench {
namespace {

constexpr CoreCounters::Event kOfAFrame[] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

// The C library has no function for this system call.
int open_event(const CoreCounters::Event& event, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  const bool leads = leader < 0;
  attributes.disabled = leads;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_GROUP;
  constexpr int kThisThread = 0, kAnyCpu = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyCpu, leader,
                                  PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

CoreCounters::CoreCounters() : CoreCounters(kOfAFrame) {}

CoreCounters::CoreCounters(std::span<const Event> events) : events_(events.size()) {
  SATRELAY_CHECK(!events.empty() && events.size() <= kMostEvents);
  for (std::size_t i = 0; i < events_ && counts(); ++i) {
    files_[i] = open_event(events[i], files_[0]);
    if (files_[i] < 0) why_not_ = std::strerror(errno);
  }
  if (!counts()) close_all();
}

CoreCounters::~CoreCounters() { close_all(); }

void CoreCounters::close_all() {
  for (int& file : files_) {
    if (file >= 0) close(file);
    file = -1;
  }
}

void CoreCounters::begin() {
  if (!counts()) return;
  ioctl(files_[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  ioctl(files_[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void CoreCounters::end(bool keep) {
  if (!counts()) return;
  ioctl(files_[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  if (!keep) return;
  std::array<std::uint64_t, 1 + kMostEvents> values{};  // Number of values, then the values.
  const auto wanted = static_cast<ssize_t>((1 + events_) * sizeof values[0]);
  if (read(files_[0], values.data(), sizeof values) != wanted) return;
  for (std::size_t i = 0; i < events_; ++i) totals_[i] += values[1 + i];
}

}  // namespace satrelay::bench
