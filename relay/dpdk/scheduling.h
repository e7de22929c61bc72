// How the kernel schedules the thread that polls.
#pragma once

namespace satrelay::dpdk {

// Lets the calling thread run as soon as it wakes, however busy the machine is (SCHED_RR at the
// lowest real-time priority). For threads that keep time and sleep when idle, never for a busy
// poller: it would starve what shares its core. False without CAP_SYS_NICE.
bool request_prompt_scheduling();

}  // namespace satrelay::dpdk
