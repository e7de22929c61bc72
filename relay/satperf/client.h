// satperf client: asks a server for a run, takes part in it, and reports.
#pragma once

#include <functional>

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

// Called several times a second with the sender's snapshot. The sender is the client or the server.
using SenderWatch = std::function<void(const Snapshot& sender)>;

Exit run_client(const Options& options, Output& output, const SenderWatch& watch = nullptr);

}  // namespace satrelay::satperf
