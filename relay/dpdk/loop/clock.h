// The clock of the DPDK host: nanoseconds since the process started.
#pragma once

#include "pep/base/time.h"

namespace satrelay::dpdk {

// Monotonic, from CLOCK_MONOTONIC: the vDSO reads the TSC (some 20 ns, no system call) and, unlike
// a TSC frequency measured once at start-up, stays right over weeks of link pacing.
Instant now();

}  // namespace satrelay::dpdk
