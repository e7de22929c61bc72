// The urgent pointer of an arriving segment (RFC 9293 section 3.8.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/tcp/block/tcb.h"
#include "pep/wire/tcp.h"

namespace satrelay::tcp {

// Call this function for a segment with URG, before handle_segments(). Returns the stream offset up
// to which the segment marks the peer's data as urgent. nullopt if all of that data has arrived.
// The mark counts only if the segment is accepted.
std::optional<std::uint64_t> urgent_mark_of(const Tcb& tcb, const wire::TcpHeader& header,
                                            std::size_t payload_size);

}  // namespace satrelay::tcp
