// satperf client --find: finds the rates that a link carries, first in one direction and then in
// the other.
#pragma once

#include "relay/satperf/options.h"
#include "relay/satperf/output.h"

namespace satrelay::satperf {

Exit find_link(const Options& options, Output& output);

}  // namespace satrelay::satperf
