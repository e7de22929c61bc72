// The clock of the programs that run on DPDK: nanoseconds since the process started.
#pragma once

#include "pep/base/time.h"

namespace satrelay::dpdk {

// Reads CLOCK_MONOTONIC by the vDSO, which takes some 20 ns and no system call. Does not read the
// TSC directly: a frequency that was measured once at start-up would be too inexact for weeks of
// pacing.
Instant now();

}  // namespace satrelay::dpdk
