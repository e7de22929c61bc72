// satperf client --find: finds the rates that a link carries up and down, one after the other.
#pragma once

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"

namespace satrelay::satperf {

Exit find_link(const Options& options, Output& output);

}  // namespace satrelay::satperf
