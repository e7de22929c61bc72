// Where and how the kernel runs the calling thread.
#pragma once

#include <vector>

namespace satrelay::dpdk {

// Lets the calling thread run as soon as it wakes, even if the machine is busy (SCHED_RR at the
// lowest real-time priority). For threads that must act on time and sleep when idle. A busy poller
// must not use this: it would starve other threads on its core. Returns false without CAP_SYS_NICE.
bool request_prompt_scheduling();

// The CPUs that the thread may run on; at least one.
std::vector<unsigned> own_cpus();
// Moves the thread to these CPUs, if it may run on at least one of them.
void run_on(const std::vector<unsigned>& cpus);

}  // namespace satrelay::dpdk
