// satperf server: waits for clients, and serves one at a time, so that runs do not disturb each
// other. While a run is active, another client is told that the server is busy.
#pragma once

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"

namespace satrelay::satperf {

Exit run_server(const Options& options, Output& output);

}  // namespace satrelay::satperf
