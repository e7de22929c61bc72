// The clock of the programs that run on DPDK: nanoseconds since the process started.
#pragma once

#include "pep/base/time.h"

namespace satrelay::dpdk {

// Reads CLOCK_MONOTONIC by the vDSO, which reads the TSC without a system call in some 20 ns. A TSC
// frequency that was measured once at start-up would be too inexact for weeks of link pacing.
Instant now();

}  // namespace satrelay::dpdk
