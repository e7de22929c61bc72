// Where and how the kernel runs the calling thread.
#pragma once

#include <vector>

namespace satrelay::dpdk {

// Lets the calling thread run as soon as it wakes, however busy the machine is (SCHED_RR at the
// lowest real-time priority). For threads that keep time and sleep when idle, never for a busy
// poller: it would starve what shares its core. False without CAP_SYS_NICE.
bool request_prompt_scheduling();

// The CPUs that it may run on; at least one.
std::vector<unsigned> own_cpus();
// It runs on one of these from now on, if there is one among them that it may run on.
void run_on(const std::vector<unsigned>& cpus);

}  // namespace satrelay::dpdk
