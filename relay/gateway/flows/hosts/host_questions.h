// With a keep-alive, or with a probe of a closed window, a host asks whether the far host is still
// there. These segments are called questions here. Only the far gateway can find out the answer: it
// sends one probe to its own host, and reports the result. When the report has arrived, the near
// gateway answers its host. If the far host or the peer is silent, the near gateway does not
// answer. So its host counts unanswered keep-alives by its own rules, as over a bridge. The
// gateways never end a connection because of a question.
//
// A flow has at most one open question. If a live peer reports nothing, the gateway itself answers
// its host. If a peer lacks the capability (docs/stp.md section 14), CONFIRM carries the number of
// keep-alives that the host has sent, and the peer then sends keep-alives to its own host for 63 s.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// --- questions of our host
// Whether the far gateway can report whether its host is there. If so, this unit answers our host's
// keep-alives and window probes instead of the endpoint.
bool may_ask(const Flow& f, const stp::Session& session);
// Handles an accepted segment of our host, which may be a keep-alive or a window probe.
void hear_question(Flow& f, const stp::Session& session, Counters& counters, Instant now);

// --- questions of both hosts
// Writes into a CONFIRM how many questions our host has asked, and the answer to the far host's
// latest question.
void tell_questions(const Flow& f, const stp::Session& session, stp::Confirmation& ours);
// Probes our host if the CONFIRM `far` carries a new keep-alive or window probe of the far host.
void follow_questions(Flow& f, const stp::Session& session, const stp::Confirmation& far,
                      Instant now);
// Advances the open questions of a flow after anything has happened to the flow. Returns true if
// our host has left two probes unanswered.
[[nodiscard]] bool go_on_with_questions(Flow& f, const stp::Session& session, Counters& counters,
                                        Instant now);
// The earlier of two deadlines: for our host's answer, and for the far gateway's answer.
Instant end_of_question(const Flow& f);

}  // namespace satrelay::gateway
