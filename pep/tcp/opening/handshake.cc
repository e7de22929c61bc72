#include "pep/tcp/opening/handshake.h"

#include "pep/base/check.h"
#include "pep/tcp/ending/ending.h"
#include "pep/tcp/segments/segment_maker.h"

namespace satrelay::tcp {
namespace {

void owe_syn(Tcb& tcb, Instant now) {
  tcb.opening.syn_owed = true;
  tcb.timers().arm(Timer::kRetransmission, now + tcb.sender.recovery().rtt().rto());
}

}  // namespace

void accept(Tcb& tcb, const wire::TcpHeader& syn, Instant now, Answer when) {
  SATRELAY_CHECK(!tcb.lifecycle.has_begun());
  offer_and_negotiate(tcb, syn);
  tcb.ecn.on_syn(syn, tcb.profile().ecn);
  tcb.lifecycle.set_state(State::kSynReceived);
  tcb.opening.syn_held = true;
  if (when == Answer::kLater) return;
  answer(tcb, now);
  if (when == Answer::kAtOnce) return;
  make_syn(tcb, now);
  tcb.opening.syn_owed = false;
  // The time at which the owner sent the SYN-ACK is unknown.
  tcb.opening.syn_sent_at = Instant::never();
}

void answer(Tcb& tcb, Instant now) {
  if (!tcb.opening.syn_held) return;
  tcb.opening.syn_held = false;
  owe_syn(tcb, now);
}

void connect(Tcb& tcb, const wire::TcpOptions& offer, Instant now, EcnOffer ecn) {
  SATRELAY_CHECK(!tcb.lifecycle.has_begun());
  if (tcb.profile().ecn && ecn == EcnOffer::kYes) tcb.ecn.offer();
  tcb.opening.actively = true;
  tcb.opening.offer = offer_like(offer, tcb.announced());
  tcb.lifecycle.set_state(State::kSynSent);
  owe_syn(tcb, now);
}

bool shows_another_connection(const Tcb& tcb, const wire::TcpHeader& header) {
  return tcb.state() == State::kSynSent && header.has(wire::TcpFlags::kAck) &&
         !header.has(wire::TcpFlags::kRst) &&
         header.acknowledgment != tcb.send_space.to_sequence(0);
}

void negotiate_with(Tcb& tcb, const wire::TcpHeader& syn) {
  tcb.receive_space = SequenceSpace(syn.sequence);
  tcb.negotiation = negotiate(tcb.opening.offer, syn.options, tcb.announced());
  if (tcb.negotiation.timestamps) tcb.timestamps.set_recent(syn.options.timestamps->value);
}

void offer_and_negotiate(Tcb& tcb, const wire::TcpHeader& syn) {
  tcb.opening.offer = answer_to(syn.options, tcb.announced());
  negotiate_with(tcb, syn);
}

void establish(Tcb& tcb, std::uint64_t peer_window, Instant now) {
  const Profile& profile = tcb.profile();
  const Negotiation& negotiation = tcb.negotiation;
  Opening& opening = tcb.opening;
  tcb.timers().cancel(Timer::kRetransmission);
  opening.syn_owed = false;
  tcb.receiver.window().set_scale(negotiation.receive_scale);
  tcb.sender.establish({negotiation.segment_size(), peer_window, negotiation.selective}, profile);
  if (opening.has_repeated_syn()) {
    tcb.sender.recovery().rtt().distrust_initial(rto_limits(profile));
  } else if (!opening.syn_sent_at.is_never()) {
    tcb.sender.recovery().rtt().sample(now - opening.syn_sent_at, rto_limits(profile));
  }
  tcb.lifecycle.set_state(State::kEstablished);
  if (tcb.sender.close_called()) tcb.lifecycle.set_state(State::kFinWait1);
}

void handle_syn_timeout(Tcb& tcb, Instant now) {
  const Profile& profile = tcb.profile();
  Opening& opening = tcb.opening;
  if (opening.syn_retries >= (opening.actively ? profile.syn_retries : profile.syn_ack_retries)) {
    fail(tcb, opening.path_error_heard ? CloseReason::kUnreachable : CloseReason::kTimeout);
    return;
  }
  ++opening.syn_retries;
  ++tcb.counters().retransmission_timeouts;
  tcb.sender.recovery().rtt().back_off(rto_limits(profile));
  owe_syn(tcb, now);
}

}  // namespace satrelay::tcp
