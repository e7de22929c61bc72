// Urgent data of a flow, from host to host (docs/stp.md section 14). An urgent mark is a position
// in the host's bytes, taken from an urgent pointer. The stream carries the mark before the bytes,
// so no urgent octet reaches the far host as an ordinary one. CONFIRM carries the mark too: even if
// the bytes are stuck behind a closed window, the far host must learn that there is urgent data.
#pragma once

#include <cstdint>

#include "pep/stp/session.h"
#include "pep/tcp/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// A segment of the host carries the urgent mark `mark`. `end` is the number of bytes of the host
// that had arrived before. Returns whether the mark is new.
bool note_urgent(Flow& f, std::uint64_t mark, std::uint64_t end, tcp::Counters& counters);

// The mark that must be written into the stream before any more bytes, and at which the next block
// ends; 0 if there is none.
std::uint64_t next_mark(const Flow& f, const stp::Session& session);

// Our host's urgent mark as the next CONFIRM reports it.
stp::UrgentNotice urgent_notice(Flow& f, const stp::Session& session);

// Records the far host's urgent mark from a CONFIRM.
void hear_urgent(Flow& f, const stp::UrgentNotice& notice, tcp::Counters& counters);

// Shows our host the mark that the last CONFIRM carried.
void show_far_urgent(Flow& f);

}  // namespace satrelay::gateway
