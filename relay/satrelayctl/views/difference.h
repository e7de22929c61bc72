// The difference between two replies of the stats socket.
#pragma once

#include "relay/client/reply.h"

namespace satrelay::ctl {

// How much each number has changed, in the shape of the replies. Entries of a listing keep their
// names. Null if nothing has changed.
Json difference(const Json& before, const Json& after);

}  // namespace satrelay::ctl
