// satperf client: asks a server for a run, takes part in it, reports.
#pragma once

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"

namespace satrelay::satperf {

Exit run_client(const Options& options, Output& output);

}  // namespace satrelay::satperf
