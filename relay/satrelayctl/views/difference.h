// The difference between two replies of the stats socket.
#pragma once

#include "relay/client/reply.h"

namespace satrelay::ctl {

// Returns how much each number has changed, in the shape of the replies, or null if nothing has
// changed. Entries of a listing keep their names.
Json difference(const Json& before, const Json& after);

}  // namespace satrelay::ctl
