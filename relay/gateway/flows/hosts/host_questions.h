// A host asks whether the far host is still there, by a keep-alive or by a probe of a closed
// window. Only the far gateway can find that out: it asks its own host once, and reports the
// answer. When the report has arrived, the near gateway answers its own host. If the far host or
// the peer is silent, the near gateway does not answer. So the host counts unanswered probes by its
// own rules, as over a bridge. The gateways never end a connection because of a question.
//
// A flow has at most one open question. If a live peer reports nothing, the gateway itself answers
// its host. If a peer lacks the capability (docs/stp.md section 14), CONFIRM carries the number of
// questions that the host has asked, and the peer then asks its own host for 63 s.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// --- questions of our host
// Whether the far gateway can be asked. If so, questions are answered by this unit instead of the
// endpoint.
bool may_ask(const Flow& f, const stp::Session& session);
// Handles an accepted segment of our host, which may be a question.
void hear_question(Flow& f, const stp::Session& session, Counters& counters, Instant now);

// --- questions of both hosts
// Writes our host's questions, and the answer to the far host's question, into a CONFIRM.
void tell_questions(const Flow& f, const stp::Session& session, stp::Confirmation& ours);
// Handles a question of the far host, if CONFIRM carries a new one.
void follow_questions(Flow& f, const stp::Session& session, const stp::Confirmation& far,
                      Instant now);
// Advances the questions of a flow after anything has happened to the flow. Returns true if our
// host has left two questions unanswered.
[[nodiscard]] bool go_on_with_questions(Flow& f, const stp::Session& session, Counters& counters,
                                        Instant now);
// The earlier of two deadlines: for our host's answer, and for the far gateway's answer.
Instant end_of_question(const Flow& f);

}  // namespace satrelay::gateway
