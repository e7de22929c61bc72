// satperf client: asks a server for a run, takes part in it, reports.
#pragma once

#include <functional>

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"
#include "relay/satperf/snapshot.h"

namespace satrelay::satperf {

// What the sender, at either end, knows of itself, whenever that may be new.
using SenderWatch = std::function<void(const Snapshot& sender)>;

Exit run_client(const Options& options, Output& output, const SenderWatch& watch = nullptr);

}  // namespace satrelay::satperf
