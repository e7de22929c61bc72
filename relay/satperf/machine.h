// The functions of the machine that a run needs in addition to its socket: clocks, memory, CPU,
// signals.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::satperf {

// Thrown if an option asks for something that this machine does not have.
class BadOption : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Instant monotonic_now();
// Returns the time since 1970, so that each start of the program gets a larger value.
std::uint64_t wall_clock_nanoseconds();
std::uint64_t random_number();

struct CpuTime {
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
};
CpuTime cpu_time();  // of this process

void pin_to_cpu(unsigned cpu);  // throws BadOption
ByteCount physical_memory();

// A large, page-aligned piece of memory. Pages that are never touched use no physical memory.
class Memory {
 public:
  explicit Memory(ByteCount size);  // throws BadOption
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  MutableBytes bytes() const { return bytes_; }

 private:
  MutableBytes bytes_;
};

// Sets up the process: the first SIGINT or SIGTERM asks the program to stop, and a second signal
// ends it at once. Also makes timers precise.
void prepare_process();
std::optional<int> stop_signal();

}  // namespace satrelay::satperf
