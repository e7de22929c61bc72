// A host asks whether the far one is still there: by a keep-alive, or by a probe of a closed
// window. Only the far gateway can know. It asks its host once, and tells its word; the answer to
// the host that has asked waits for that. If the far host is silent, or the peer is, there is no
// answer, so the host counts by its own rules, as over a bridge. Nothing ends because somebody has
// asked.
//
// A flow has one question outstanding. Where a live peer says nothing, the gateway answers itself.
// A peer without the capability (docs/stp.md section 14) is told how often the host has asked, and
// asks its own host for 63 s.
#pragma once

#include "pep/base/time.h"
#include "pep/stp/session.h"
#include "relay/gateway/counters.h"
#include "relay/gateway/flows/flow.h"

namespace satrelay::gateway {

// --- our host asks
// The far gateway can be asked: the endpoint leaves questions to this unit.
bool may_ask(const Flow& f, const stp::Session& session);
// An accepted segment of our host may be a question.
void hear_question(Flow& f, const stp::Session& session, Counters& counters, Instant now);

// --- both
// What CONFIRM tells of questions and words.
void tell_questions(const Flow& f, const stp::Session& session, stp::Confirmation& ours);
// The far host has asked, if that is so.
void follow_questions(Flow& f, const stp::Session& session, const stp::Confirmation& far,
                      Instant now);
// Moves the questions of a flow on, after anything has happened to it. True: our host has been
// silent twice, where it was asked.
[[nodiscard]] bool go_on_with_questions(Flow& f, const stp::Session& session, Counters& counters,
                                        Instant now);
// When somebody has waited long enough.
Instant end_of_question(const Flow& f);

}  // namespace satrelay::gateway
