// satperf server: waits for clients and serves one at a time, so that runs do not disturb each
// other. A second client gets the answer that the server is busy.
#pragma once

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"

namespace satrelay::satperf {

Exit run_server(const Options& options, Output& output);

}  // namespace satrelay::satperf
