#include "relay/gateway/flows/hosts/host_questions.h"

namespace satrelay::gateway {
namespace {

// How long a host on the LAN may take to answer a probe. A later answer still corrects the report
// to the peer.
constexpr Duration kHostPatience = Duration::milliseconds(500);
// How long the far host may take to answer a keep-alive. The gateway waits for this time in
// addition to two round trips of the link. The answer may need two round trips, since a CONFIRM may
// be delayed by half a round trip at each end.
constexpr Duration kPeerPatience = Duration::seconds(2);
// A host that has answered a probe within this time is certainly there, and is not probed again.
// Linux might not answer, since it answers only two such segments a second (tcp_invalid_ratelimit).
constexpr Duration kFresh = Duration::milliseconds(600);

HostQuestions& questions_of(Flow& f) {
  FlowRare& rare = f.make_rare();
  if (!rare.questions) rare.questions = std::make_unique<HostQuestions>();
  return *rare.questions;
}

// A host probes a closed window until the window opens. If the link is slower than the host, the
// window is often closed. The host may also not know yet that the window has opened. If the probes
// of many hosts crossed a slow link, they would use it up. So if a host has sent data within this
// time, the gateway itself answers the probe.
constexpr Duration kWaitsForRoom = Duration::seconds(5);
// A host retransmits a byte at growing intervals. A byte that is repeated within this time may be
// such a retransmission.
constexpr Duration kRepeatsWithin = Duration::seconds(30);

bool has_sent_within(const Flow& f, Duration time, Instant now) {
  return f.hot() != nullptr && now < f.hot()->last_payload + time;
}

bool only_waits_for_room(const Flow& f, Instant now) {
  return f.endpoint.receiving().limit() > 0 && has_sent_within(f, kWaitsForRoom, now);
}

// If the ACK of the last byte was lost, the host retransmits that byte. A retransmission is
// acknowledged in any case. If the host repeats the byte a second time, the repeat counts as a
// keep-alive, since some hosts send a byte with each keep-alive.
bool may_be_data(const Flow& f, HostQuestions& q, Instant now) {
  const std::uint64_t in_order = f.endpoint.received().in_order_end();
  if (q.byte_repeated_at == in_order || !has_sent_within(f, kRepeatsWithin, now)) return false;
  q.byte_repeated_at = in_order;
  return true;
}

void answer(Flow& f, HostQuestions& q) {
  q.owes_answer = false;
  q.until = Instant::never();
  f.endpoint.answer_question();
}

void withhold(HostQuestions& q, Counters& counters) {
  if (q.until.is_never()) return;
  q.until = Instant::never();
  counters.add(Counter::kQuestionsWithheld);
}

void go_on_for_our_host(Flow& f, HostQuestions& q, const stp::Session& session, Counters& counters,
                        Instant now) {
  if (!may_ask(f, session)) return answer(f, q);
  const stp::HostAnswer word = session.streams().confirmation(f.inbound_stream()).word;
  if (word.question == q.asked) return word.silent ? withhold(q, counters) : answer(f, q);
  if (now < q.until) return;
  // When a silent far host sends something again, the far gateway reports that at once. So if the
  // report on the latest keep-alive is late, an earlier report that the far host is silent is still
  // true.
  const bool is_silent = word.silent && word.question > 0 && word.question < q.asked;
  if (is_silent || session.peer_state() != stp::PeerState::kAlive) return withhold(q, counters);
  counters.add(Counter::kQuestionsUnanswered);
  answer(f, q);
}

bool go_on_for_far_host(Flow& f, HostQuestions& q, Instant now) {
  const std::uint64_t question = f.rare().far_keep_alives;
  if (!f.endpoint.is_synchronised()) {
    q.host_until = Instant::never();
  } else if (!f.endpoint.questions().awaits_word()) {
    q.host_until = Instant::never();
    q.heard = now;
    q.word = {.question = question, .silent = false};
  } else if (now >= q.host_until) {
    q.host_until = Instant::never();
    const bool was_silent = q.word.silent;
    q.word = {.question = question, .silent = true};
    return was_silent;
  }
  return false;
}

}  // namespace

bool may_ask(const Flow& f, const stp::Session& session) {
  return f.state.is_established() && f.state.has_stream() && session.agreed().host_words();
}

void hear_question(Flow& f, const stp::Session& session, Counters& counters, Instant now) {
  using tcp::Question;
  const Question question = f.endpoint.questions().take();
  if (question == Question::kNone) return;
  if (only_waits_for_room(f, now)) return f.endpoint.answer_question();
  HostQuestions& q = questions_of(f);
  if (question == Question::kWithByte && may_be_data(f, q, now)) {
    f.endpoint.answer_question();
    return;
  }
  if (q.owes_answer && !q.until.is_never()) return;
  ++q.asked;
  q.owes_answer = true;
  q.until = now + session.path().smoothed_rtt() * 2 + kPeerPatience;
  counters.add(Counter::kQuestionsAsked);
}

void tell_questions(const Flow& f, const stp::Session& session, stp::Confirmation& ours) {
  if (!session.agreed().host_words()) {
    ours.keep_alives = f.endpoint.questions().keep_alives();
  } else if (const HostQuestions* const q = f.rare().questions.get()) {
    ours.keep_alives = q->asked;
    ours.word = q->word;
  }
}

void follow_questions(Flow& f, const stp::Session& session, const stp::Confirmation& far,
                      Instant now) {
  if (far.keep_alives <= f.rare().far_keep_alives) return;
  f.make_rare().far_keep_alives = far.keep_alives;
  if (!session.agreed().host_words()) return f.endpoint.send_keep_alive(now);
  HostQuestions& q = questions_of(f);
  if (!q.host_until.is_never()) return;  // the awaited answer counts for this question too
  const bool knows = q.word.question > 0 && !q.word.silent && now < q.heard + kFresh;
  if (knows) {
    q.word.question = far.keep_alives;
  } else if (f.endpoint.ask_once()) {
    q.host_until = now + kHostPatience;
  }
}

bool go_on_with_questions(Flow& f, const stp::Session& session, Counters& counters, Instant now) {
  HostQuestions& q = *f.make_rare().questions;
  if (q.owes_answer) go_on_for_our_host(f, q, session, counters, now);
  return (!q.host_until.is_never() || q.word.silent) && go_on_for_far_host(f, q, now);
}

Instant end_of_question(const Flow& f) {
  const HostQuestions* const q = f.rare().questions.get();
  return q == nullptr ? Instant::never() : earlier(q->until, q->host_until);
}

}  // namespace satrelay::gateway
