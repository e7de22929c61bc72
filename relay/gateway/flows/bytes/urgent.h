// Urgent data of a flow, from host to host (docs/stp.md section 14). The stream says so before the
// bytes: so no urgent octet reaches the far host as an ordinary one. CONFIRM says so too, as bytes
// may be stuck behind a closed window, and their host is to learn that there is urgent data.
#pragma once

#include <cstdint>

#include "pep/stp/session.h"
#include "pep/tcp/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// A segment of the host shows `mark`: whether that is news. `end`: up to there its bytes had come
// before.
bool note_urgent(Flow& f, std::uint64_t mark, std::uint64_t end, tcp::Counters& counters);

// The mark that the stream must tell before more bytes, and up to which these go; 0: none.
std::uint64_t next_mark(const Flow& f, const stp::Session& session);

// What CONFIRM says of the host.
stp::UrgentNotice urgent_notice(Flow& f, const stp::Session& session);

// What CONFIRM says of the far host.
void hear_urgent(Flow& f, const stp::UrgentNotice& notice, tcp::Counters& counters);

// Shows our host what CONFIRM has said.
void show_far_urgent(Flow& f);

}  // namespace satrelay::gateway
