// How two replies of the stats socket differ.
#pragma once

#include "relay/client/reply.h"

namespace satrelay::ctl {

// Of each number that has changed, by how much, in the shape of the replies; an entry of a listing
// keeps its name. Null if nothing has changed.
Json difference(const Json& before, const Json& after);

}  // namespace satrelay::ctl
