#include "relay/satperf/machine.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>

#include "config/text/format.h"

namespace satrelay::satperf {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

void on_signal(int number) { caught_signal = number; }

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U +
         static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

Instant monotonic_now() { return Instant::from_nanoseconds(read_clock(CLOCK_MONOTONIC)); }

std::uint64_t wall_clock_nanoseconds() {
  return static_cast<std::uint64_t>(read_clock(CLOCK_REALTIME));
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) {
    throw std::runtime_error("the kernel gives no random numbers");
  }
  return number;
}

CpuTime cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {microseconds(usage.ru_utime), microseconds(usage.ru_stime)};
}

void pin_to_cpu(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw BadOption("--cpu: cannot run on CPU " + std::to_string(cpu) + ": " +
                    std::strerror(errno));
  }
}

ByteCount physical_memory() {
  return ByteCount(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

Memory::Memory(ByteCount size) {
  void* const address = ::mmap(nullptr, size.value(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    throw BadOption("--buffer: no " + config::to_text(size) +
                    " of memory: " + std::strerror(errno));
  }
  ::madvise(address, size.value(), MADV_HUGEPAGE);
  bytes_ = MutableBytes(static_cast<std::byte*>(address), size.value());
}

Memory::~Memory() { ::munmap(bytes_.data(), bytes_.size()); }

void prepare_process() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  // Without SA_RESTART, a signal ends a wait at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // Make timers precise to 1 us. The kernel's default is 50 us.
  ::prctl(PR_SET_TIMERSLACK, 1'000, 0, 0, 0);
}

std::optional<int> stop_signal() {
  const int number = caught_signal;
  return number == 0 ? std::nullopt : std::optional(number);
}

}  // namespace satrelay::satperf
