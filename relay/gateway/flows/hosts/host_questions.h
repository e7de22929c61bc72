// A host asks whether the far host is still there, by a keep-alive or by a probe of a closed
// window. Only the far gateway can know that. It asks its host once, and reports the answer. The
// near gateway answers its own host when it has that report. If the far host is silent, or the peer
// is, the near gateway does not answer, and the host counts by its own rules, as over a bridge. No
// question ends a connection.
//
// A flow has one question outstanding. If a live peer reports nothing, the gateway answers its host
// itself. If a peer lacks the capability (docs/stp.md section 14), CONFIRM tells it how often the
// host has asked, and it asks its own host for 63 s.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// --- our host asks
// Whether the far gateway can be asked. If so, the endpoint leaves questions to this unit.
bool may_ask(const Flow& f, const stp::Session& session);
// Handles an accepted segment of our host, which may be a question.
void hear_question(Flow& f, const stp::Session& session, Counters& counters, Instant now);

// --- both hosts
// Writes questions and answers into a CONFIRM.
void tell_questions(const Flow& f, const stp::Session& session, stp::Confirmation& ours);
// Handles a question of the far host, if CONFIRM has one.
void follow_questions(Flow& f, const stp::Session& session, const stp::Confirmation& far,
                      Instant now);
// Moves the questions of a flow on, after anything has happened to the flow. True: our host was
// asked, and has been silent twice.
[[nodiscard]] bool go_on_with_questions(Flow& f, const stp::Session& session, Counters& counters,
                                        Instant now);
// The next deadline: of our host's answer, or of the far gateway's.
Instant end_of_question(const Flow& f);

}  // namespace satrelay::gateway
