// Urgent data of a flow, from host to host (docs/stp.md section 14). The stream tells an urgent
// mark before the bytes, so no urgent octet reaches the far host as an ordinary one. CONFIRM tells
// it too. The bytes may be stuck behind a closed window, and the far host must learn that there is
// urgent data.
#pragma once

#include <cstdint>

#include "pep/stp/session.h"
#include "pep/tcp/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// A segment of the host shows `mark`. Returns whether the mark is new. `end`: bytes up to here had
// arrived before.
bool note_urgent(Flow& f, std::uint64_t mark, std::uint64_t end, tcp::Counters& counters);

// The mark that the stream must tell before any more bytes; the next block ends there. 0: none.
std::uint64_t next_mark(const Flow& f, const stp::Session& session);

// Our host's urgent mark, for CONFIRM.
stp::UrgentNotice urgent_notice(Flow& f, const stp::Session& session);

// Handles the far host's urgent mark of a CONFIRM.
void hear_urgent(Flow& f, const stp::UrgentNotice& notice, tcp::Counters& counters);

// Shows our host the mark that the last CONFIRM has told.
void show_far_urgent(Flow& f);

}  // namespace satrelay::gateway
