#include "relay/dpdk/loop/scheduling.h"

#include <sched.h>

namespace satrelay::dpdk {

bool request_prompt_scheduling() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  return ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) == 0;
}

std::vector<unsigned> own_cpus() {
  std::vector<unsigned> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

void run_on(const std::vector<unsigned>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  }
  // If the thread may run on none of these CPUs, the kernel refuses the call and changes nothing.
  static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
}

}  // namespace satrelay::dpdk
