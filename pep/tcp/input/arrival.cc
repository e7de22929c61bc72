#include "pep/tcp/input/arrival.h"

#include <cstdint>
#include <span>

#include "pep/tcp/ending/ending.h"
#include "pep/tcp/input/acceptability.h"
#include "pep/tcp/input/sack_reader.h"
#include "pep/tcp/opening/handshake.h"
#include "pep/tcp/questions/peer_questions.h"
#include "pep/tcp/segments/resets.h"

namespace satrelay::tcp {

using wire::TcpFlags;

Acceptance Arrival::handle() {
  ++tcb_.counters().segments_in;
  const State state = tcb_.state();
  if (state == State::kClosed) {
    handle_in_closed();
  } else if (state == State::kSynSent) {
    handle_in_syn_sent();
  } else {
    placement_ = placement_of(tcb_, header_, segment_.payload.size());
    handle_in_sequence();
  }
  return acceptance_;
}

void Arrival::handle_in_sequence() {
  if (header_.has(TcpFlags::kRst)) return handle_reset();
  if (header_.has(TcpFlags::kSyn)) return handle_syn();
  if (!header_.has(TcpFlags::kAck)) return;
  if (!passes_paws()) return;
  if (!is_acceptable(tcb_, placement_)) return handle_unacceptable();
  const State state = tcb_.state();
  const bool may_idle = state == State::kEstablished || state == State::kCloseWait;
  if (may_idle) note_stray_answer(tcb_, header_, placement_);
  if (state == State::kSynReceived && !completes_handshake()) return;
  if (!handle_acknowledgment()) return;
  if (!placement_.occupies_sequence()) return;
  if (tcb_.ecn.on_data(header_, segment_.ecn)) {
    ++tcb_.counters().congestion_marks_in;
    tcb_.receiver.acks().owe_now();
  }
  handle_payload();
}

void Arrival::handle_in_closed() {
  // If we ended the connection, the peer may go on sending, as our RST may have been lost.
  const CloseReason reason = tcb_.lifecycle.reason();
  const bool gave_up = reason == CloseReason::kAborted || reason == CloseReason::kTimeout ||
                       reason == CloseReason::kUnreachable;
  if (!gave_up) return;
  if (!header_.has(TcpFlags::kRst) && header_.has(TcpFlags::kAck)) {
    reset_unacceptable(tcb_, header_);
  }
}

void Arrival::handle_in_syn_sent() {
  if (shows_another_connection(tcb_, header_)) return reset_unacceptable(tcb_, header_);
  if (header_.has(TcpFlags::kAck) && !acknowledges_syn()) return;
  if (header_.has(TcpFlags::kAck)) accept();
  if (header_.has(TcpFlags::kRst)) {
    if (header_.has(TcpFlags::kAck)) fail(tcb_, CloseReason::kRefused);
    return;
  }
  if (!header_.has(TcpFlags::kSyn)) return;
  negotiate_with(tcb_, header_);
  if (!header_.has(TcpFlags::kAck)) {  // simultaneous open
    tcb_.ecn.on_syn(header_, tcb_.ecn.offered());
    tcb_.lifecycle.set_state(State::kSynReceived);
    tcb_.opening.syn_owed = true;
    return;
  }
  tcb_.ecn.on_syn_ack(header_);
  // The window of a SYN is never scaled. As in Linux, data and FIN on a SYN are ignored: the peer
  // retransmits them.
  establish(tcb_, header_.window, now_);
  tcb_.receiver.acks().owe_now();
}

// RFC 5961 section 3.2.
void Arrival::handle_reset() {
  const std::int64_t position = placement_.begin;
  const Receiver& receiver = tcb_.receiver;
  const auto next = static_cast<std::int64_t>(receiver.next());
  if (position != next && !answers_our_ack(tcb_, position)) {
    if (tcb_.opening.syn_held) tcb_.questions.note_stray_answer();
    const auto told = static_cast<std::int64_t>(receiver.acknowledged());
    if (position > told && position < static_cast<std::int64_t>(receiver.edge())) challenge();
    return;
  }
  accept();
  if (tcb_.state() == State::kTimeWait) return fail(tcb_, CloseReason::kNone);
  const bool refused = tcb_.state() == State::kSynReceived && tcb_.opening.actively;
  fail(tcb_, refused ? CloseReason::kRefused : CloseReason::kResetByPeer);
}

void Arrival::handle_syn() {
  const std::uint32_t initial = tcb_.receive_space.initial_sequence();
  if (tcb_.state() != State::kSynReceived || header_.sequence != initial) {
    return challenge();  // RFC 5961 section 4.2
  }
  if (header_.has(TcpFlags::kAck)) {  // the peer's answer in a simultaneous open
    if (!acknowledges_syn()) return reset_unacceptable(tcb_, header_);
    accept();
    establish(tcb_, header_.window, now_);
    tcb_.receiver.acks().owe_now();
    return;
  }
  accept();
  // The latest SYN counts: the peer may drop its options one by one with each retry.
  if (!tcb_.opening.actively) offer_and_negotiate(tcb_, header_);
  tcb_.ecn.on_syn(header_, tcb_.profile().ecn);
  tcb_.opening.syn_owed = !tcb_.opening.syn_held;  // our SYN-ACK was lost, or crossed this SYN
}

bool Arrival::passes_paws() {
  const auto* timestamps = tcb_.negotiation.timestamps_of(header_);
  if (timestamps == nullptr || !tcb_.timestamps.is_old(timestamps->value)) return true;
  ++tcb_.counters().paws_rejected;
  answer_within_limits();
  return false;
}

void Arrival::handle_unacceptable() {
  ++tcb_.counters().out_of_window_segments_in;
  if (tcb_.lifecycle.is_synchronised() && repeats_recent(tcb_, placement_) &&
      has_plausible_ack(tcb_, header_)) {
    accept();
  }
  if (placement_.end <= static_cast<std::int64_t>(tcb_.receiver.next())) {
    tcb_.receiver.note_duplicate(placement_.begin, placement_.payload_end, tcb_.counters());
  }
  // Take the timestamp of a keep-alive. Otherwise PAWS would reject a peer that sends nothing but
  // keep-alives for 24 days (RFC 7323 section 5.5).
  if (note_keep_alive(tcb_, header_, placement_) && acceptance_ == Acceptance::kAccepted) {
    note_timestamps();
    if (leave_question(tcb_, placement_, now_)) return;
  }
  if (tcb_.state() == State::kTimeWait && header_.has(TcpFlags::kFin)) {
    tcb_.timers().arm(Timer::kClose, now_ + tcb_.profile().time_wait);
  }
  answer_within_limits();
}

bool Arrival::completes_handshake() {
  if (!acknowledges_syn()) {
    reset_unacceptable(tcb_, header_);
    return false;
  }
  establish(tcb_, tcb_.negotiation.window_of(header_), now_);
  return true;
}

bool Arrival::handle_acknowledgment() {
  Sender& sender = tcb_.sender;
  const auto una = static_cast<std::int64_t>(sender.una());
  const std::int64_t ack = tcb_.send_space.to_position(header_.acknowledgment, sender.una());
  if (!has_plausible_ack(tcb_, header_)) {
    challenge();
    return false;
  }
  accept();
  note_timestamps();
  if (ack < una) return true;

  Acknowledgment acknowledgment;
  const SackReports reports = read_sack(tcb_, header_, ack);
  acknowledgment.ack = static_cast<std::uint64_t>(ack);
  acknowledgment.sequence = placement_.begin;
  acknowledgment.window = tcb_.negotiation.window_of(header_);
  acknowledgment.congestion_echo = tcb_.ecn.agreed() && header_.has(TcpFlags::kEce);
  acknowledgment.occupies_sequence = placement_.occupies_sequence();
  acknowledgment.sack = std::span(reports.blocks).first(reports.count);
  acknowledgment.duplicate = reports.duplicate;
  const auto* timestamps = tcb_.negotiation.timestamps_of(header_);
  if (timestamps != nullptr && ack > una) {
    acknowledgment.timestamp_rtt = tcb_.timestamps.age(timestamps->echo_reply, now_);
    acknowledgment.echoed_before = tcb_.timestamps.echoed_before(timestamps->echo_reply, now_);
  }
  sender.handle_acknowledgment(acknowledgment, tcb_.around, now_);
  if (ack > una && sender.fin_acknowledged()) on_own_fin_acknowledged(tcb_, now_);
  return tcb_.state() != State::kClosed;
}

void Arrival::handle_payload() {
  Receiver& receiver = tcb_.receiver;
  if (receiver.fin_taken()) {  // the segment lies beyond the peer's own FIN
    receiver.acks().owe_now();
    return;
  }
  if (!segment_.payload.empty()) {
    receiver.handle_data(placement_.begin, segment_.payload, tcb_.around, now_);
  }
  if (header_.has(TcpFlags::kFin)) receiver.handle_fin(placement_.payload_end);
  if (receiver.take_fin()) on_peer_fin(tcb_, now_);
}

void Arrival::note_timestamps() {
  if (const auto* timestamps = tcb_.negotiation.timestamps_of(header_)) {
    tcb_.timestamps.update(timestamps->value, placement_.begin, tcb_.last_ack_sent);
  }
}

// Limits the answers to empty segments, as two confused endpoints could exchange them for ever.
void Arrival::answer_within_limits() {
  if (placement_.occupies_sequence() || tcb_.challenges.allow(now_)) tcb_.receiver.acks().owe_now();
}

void Arrival::challenge() {
  if (!tcb_.challenges.allow(now_)) return;
  ++tcb_.counters().challenge_acks;
  tcb_.receiver.acks().owe_now();
}

}  // namespace satrelay::tcp
