// ICMP messages that quote one of our segments (RFC 5927).
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/tcp/block/tcb.h"
#include "pep/tcp/types.h"

namespace satrelay::tcp {

// Documented in endpoint.h.
void handle_packet_too_big(Tcb& tcb, std::uint32_t sequence, std::uint16_t segment_limit,
                           Instant now);
bool handle_path_error(Tcb& tcb, std::uint32_t sequence, PathError error);

}  // namespace satrelay::tcp
