// The difference between two replies of the stats socket.
#pragma once

#include "relay/client/reply.h"

namespace satrelay::ctl {

// Returns by how much each number has changed, in a JSON value with the same structure as the
// replies. Returns null if nothing has changed. Entries of a listing keep their names.
Json difference(const Json& before, const Json& after);

}  // namespace satrelay::ctl
