// Endpoint: input of segments, in the order of RFC 9293 section 3.10.7.
#include <algorithm>

#include "pep/base/check.h"
#include "pep/tcp/endpoint.h"

namespace satrelay::tcp {

using wire::TcpFlags;

Endpoint::Taken Endpoint::handle_segments(std::span<const Segment> segments, Instant now) {
  const Segment& first = segments.front();
  const std::size_t predicted =
      first.payload.empty() ? take_acknowledgments(segments, now) : take_next_bytes(segments, now);
  if (predicted > 0) return {predicted, Acceptance::kAccepted};
  acceptance_ = Acceptance::kRefused;
  process_segment(first, now);
  if (acceptance_ == Acceptance::kAccepted) note_life(now);
  return {1, acceptance_};
}

// Header prediction (Van Jacobson): the segments bring the next bytes of an established connection,
// and each repeats the ACK and the window that we know. Conditions that hold for all of them are
// checked once.
std::size_t Endpoint::take_next_bytes(std::span<const Segment> segments, Instant now) {
  if (state_ != State::kEstablished || ecn_.agreed() || keep_alive_.asking()) return 0;
  if (!receiver_.is_in_order()) return 0;
  const wire::TcpHeader& first = *segments.front().header;
  const std::uint64_t una = sender_.una();
  const std::uint64_t window = std::uint64_t{first.window} << negotiation_.send_scale;
  std::uint64_t next = receiver_.next();
  if (first.acknowledgment != send_space_.to_sequence(una) ||
      !sender_.is_known(una, window, static_cast<std::int64_t>(next), around_.timers)) {
    return 0;
  }
  std::uint64_t last = next;
  std::size_t taken = 0;
  for (const auto& [header, payload, ecn] : segments) {
    const std::uint8_t flags = header->flags & static_cast<std::uint8_t>(~TcpFlags::kPsh);
    if (flags != TcpFlags::kAck || header->options.sack_count > 0 || payload.empty()) break;
    if (header->sequence != receive_space_.to_sequence(next)) break;
    if (header->acknowledgment != first.acknowledgment || header->window != first.window) break;
    const auto* timestamps = timestamps_of(*header);
    if (timestamps != nullptr && timestamps_.is_old(timestamps->value)) break;
    if (!receiver_.admits(payload.size())) break;
    if (timestamps != nullptr) {
      timestamps_.update(timestamps->value, static_cast<std::int64_t>(next), last_ack_sent_);
    }
    last = next;
    next += payload.size();
    ++taken;
    if (!receiver_.handle_next(payload, around_, now)) break;
  }
  if (taken > 0) sender_.handle_known(static_cast<std::int64_t>(last));
  around_.counters().segments_in += taken;
  return taken;
}

// The same for pure ACKs that acknowledge more, while no data is missing.
std::size_t Endpoint::take_acknowledgments(std::span<const Segment> segments, Instant now) {
  if (state_ != State::kEstablished && state_ != State::kCloseWait) return 0;
  if (keep_alive_.asking() || !sender_.recovery().misses_nothing(around_.timers)) return 0;
  const std::uint64_t next = receiver_.next();
  const std::uint32_t sequence = receive_space_.to_sequence(next);
  std::size_t taken = 0;
  for (const auto& [header, payload, ecn] : segments) {
    if (header->flags != TcpFlags::kAck || header->options.sack_count > 0) break;
    if (header->sequence != sequence || !payload.empty()) break;
    const std::int64_t ack = send_space_.to_position(header->acknowledgment, sender_.una());
    if (ack <= static_cast<std::int64_t>(sender_.una()) ||
        ack > static_cast<std::int64_t>(sender_.next())) {
      break;
    }
    Acknowledgment acknowledgment;
    if (const auto* timestamps = timestamps_of(*header)) {
      if (timestamps_.is_old(timestamps->value)) break;
      timestamps_.update(timestamps->value, static_cast<std::int64_t>(next), last_ack_sent_);
      acknowledgment.timestamp_rtt = timestamps_.age(timestamps->echo_reply, now);
      acknowledgment.echoed_before = timestamps_.echoed_before(timestamps->echo_reply, now);
    }
    acknowledgment.ack = static_cast<std::uint64_t>(ack);
    acknowledgment.sequence = static_cast<std::int64_t>(next);
    acknowledgment.window = std::uint64_t{header->window} << negotiation_.send_scale;
    sender_.handle_advance(acknowledgment, around_, now);
    ++taken;
  }
  if (taken > 0) sender_.recovery().on_advanced(around_, now);
  around_.counters().segments_in += taken;
  return taken;
}

// Only accepted segments count. A stranger that does not know the sequence numbers must not answer
// for a host that is gone, nor keep its connection alive.
void Endpoint::note_life(Instant now) {
  if (keep_alive_.asking()) {
    keep_alive_.on_heard();
    timers().cancel(Timer::kKeepAlive);
  }
  if (state_ == State::kFinWait2) arm_half_closed(now);
}

void Endpoint::process_segment(const Segment& segment, Instant now) {
  const wire::TcpHeader& header = *segment.header;
  const ConstBytes payload = segment.payload;
  ++around_.counters().segments_in;
  if (state_ == State::kClosed) return handle_in_closed(header);
  if (state_ == State::kSynSent) return handle_in_syn_sent(header, now);

  Placement placement;
  placement.begin = receive_space_.to_position(header.sequence, receiver_.next());
  placement.payload_end = placement.begin + static_cast<std::int64_t>(payload.size());
  placement.end = placement.payload_end + (header.has(TcpFlags::kFin) ? 1 : 0);

  if (header.has(TcpFlags::kRst)) return handle_reset(placement.begin, now);
  if (header.has(TcpFlags::kSyn)) return handle_syn(header, now);
  if (!header.has(TcpFlags::kAck)) return;
  if (!passes_paws(header, placement, now)) return;
  if (!is_acceptable(placement)) return handle_unacceptable(header, placement, now);
  const bool may_idle = state_ == State::kEstablished || state_ == State::kCloseWait;
  if (may_idle) note_stray_answer(header, placement);
  if (state_ == State::kSynReceived && !completes_handshake(header, now)) return;
  if (!handle_acknowledgment(header, placement, now)) return;
  if (!placement.occupies_sequence()) return;
  if (ecn_.on_data(header, segment.ecn)) {
    ++around_.counters().congestion_marks_in;
    receiver_.acks().owe_now();
  }
  handle_payload(header, payload, placement, now);
}

// The stream position of the segment in flight that begins at `sequence`; nullopt if it is not in
// flight.
std::optional<std::uint64_t> Endpoint::outstanding_position(std::uint32_t sequence) const {
  if (!is_synchronised()) return std::nullopt;
  const std::int64_t position = send_space_.to_position(sequence, sender_.una());
  if (position < static_cast<std::int64_t>(sender_.una()) ||
      position >= static_cast<std::int64_t>(sender_.next())) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(position);
}

void Endpoint::handle_packet_too_big(std::uint32_t sequence, std::uint16_t segment_limit,
                                     Instant now) {
  // Before the handshake is complete, no data is in flight that could be too big.
  const auto position = outstanding_position(sequence);
  if (!position) return;
  const std::uint16_t limit = std::max(segment_limit, kSmallestPathSegment);
  if (limit >= negotiation_.segment_limit) return;
  negotiation_.segment_limit = limit;
  ++around_.counters().path_mtu_reductions;
  sender_.handle_smaller_path(*position, negotiation_.segment_size(), around_, now);
}

bool Endpoint::handle_path_error(std::uint32_t sequence, PathError error) {
  const bool opening = state_ == State::kSynSent || (state_ == State::kSynReceived && !syn_held_);
  const bool outstanding = opening ? sequence == send_space_.initial_sequence()
                                   : outstanding_position(sequence).has_value();
  if (!outstanding) {
    ++around_.counters().path_errors_rejected;
    return false;
  }
  ++around_.counters().path_errors_in;
  if (state_ != State::kSynSent) return false;
  if (error == PathError::kPassing) {
    path_error_heard_ = true;
    return false;
  }
  fail(error == PathError::kHard ? CloseReason::kRefused : CloseReason::kUnreachable);
  return true;
}

void Endpoint::handle_in_closed(const wire::TcpHeader& header) {
  // Our RST may have been lost, so the peer of a connection that we gave up may go on sending.
  const bool gave_up = reason_ == CloseReason::kAborted || reason_ == CloseReason::kTimeout ||
                       reason_ == CloseReason::kUnreachable;
  if (!gave_up) return;
  if (!header.has(TcpFlags::kRst) && header.has(TcpFlags::kAck)) reset_unacceptable(header);
}

void Endpoint::handle_in_syn_sent(const wire::TcpHeader& header, Instant now) {
  if (shows_another_connection(header)) return reset_unacceptable(header);
  if (header.has(TcpFlags::kAck) && header.acknowledgment != send_space_.to_sequence(0)) return;
  if (header.has(TcpFlags::kAck)) acceptance_ = Acceptance::kAccepted;
  if (header.has(TcpFlags::kRst)) {
    if (header.has(TcpFlags::kAck)) fail(CloseReason::kRefused);
    return;
  }
  if (!header.has(TcpFlags::kSyn)) return;
  negotiate_with(header);
  if (!header.has(TcpFlags::kAck)) {  // simultaneous open
    ecn_.on_syn(header, ecn_.offered());
    set_state(State::kSynReceived);
    syn_owed_ = true;
    return;
  }
  ecn_.on_syn_ack(header);
  // The window of a SYN is never scaled. Data and FIN on a SYN are not used, as in Linux: the peer
  // repeats them.
  establish(header.window, now);
  receiver_.acks().owe_now();
}

// Whether a reset has the number that our ACKs named as the next one. While acknowledgments are
// held, that number is lower than RCV.NXT. A peer that no longer knows the connection resets with
// it.
bool Endpoint::answers_our_ack(std::int64_t reset_position) const {
  const std::uint64_t told = receiver_.acknowledged();
  if (told == receiver_.next() || reset_position < 0) return false;
  const auto position = static_cast<std::uint64_t>(reset_position);
  return position == told || position == last_ack_sent_;
}

// RFC 5961 section 3.2.
void Endpoint::handle_reset(std::int64_t position, Instant now) {
  const auto next = static_cast<std::int64_t>(receiver_.next());
  if (position != next && !answers_our_ack(position)) {
    if (syn_held_) ++stray_answers_;
    const auto told = static_cast<std::int64_t>(receiver_.acknowledged());
    if (position > told && position < static_cast<std::int64_t>(receiver_.edge())) challenge(now);
    return;
  }
  acceptance_ = Acceptance::kAccepted;
  if (state_ == State::kTimeWait) return fail(CloseReason::kNone);
  const bool refused = state_ == State::kSynReceived && opened_actively_;
  fail(refused ? CloseReason::kRefused : CloseReason::kResetByPeer);
}

void Endpoint::handle_syn(const wire::TcpHeader& header, Instant now) {
  if (state_ != State::kSynReceived || header.sequence != receive_space_.initial_sequence()) {
    return challenge(now);  // RFC 5961 section 4.2
  }
  if (header.has(TcpFlags::kAck)) {  // the second half of a simultaneous open
    if (header.acknowledgment != send_space_.to_sequence(0)) return reset_unacceptable(header);
    acceptance_ = Acceptance::kAccepted;
    establish(header.window, now);
    receiver_.acks().owe_now();
    return;
  }
  acceptance_ = Acceptance::kAccepted;
  // The latest SYN counts: the peer may have fallen back to fewer options, one by one.
  if (!opened_actively_) {
    offer_ = answer_to(header.options, announced());
    negotiate_with(header);
  }
  ecn_.on_syn(header, profile().ecn);
  syn_owed_ = !syn_held_;  // our SYN-ACK was lost, or crossed this SYN
}

// nullptr also if the segment has no timestamps. RFC 7323 section 3.2 drops such a segment. But
// servers behind SYN cookies and some stacks leave timestamps out later, and other stacks accept
// that. The segment says nothing about its age, so it is judged by its sequence numbers alone.
const wire::TcpTimestamps* Endpoint::timestamps_of(const wire::TcpHeader& header) const {
  const auto& timestamps = header.options.timestamps;
  return negotiation_.timestamps && timestamps ? &*timestamps : nullptr;
}

bool Endpoint::passes_paws(const wire::TcpHeader& header, const Placement& placement, Instant now) {
  const auto* timestamps = timestamps_of(header);
  if (timestamps == nullptr || !timestamps_.is_old(timestamps->value)) return true;
  ++around_.counters().paws_rejected;
  if (placement.occupies_sequence() || challenges_.allow(now)) receiver_.acks().owe_now();
  return false;
}

void Endpoint::note_timestamps(const wire::TcpHeader& header, const Placement& placement) {
  if (const auto* timestamps = timestamps_of(header)) {
    timestamps_.update(timestamps->value, placement.begin, last_ack_sent_);
  }
}

bool Endpoint::is_acceptable(const Placement& placement) const {
  const auto next = static_cast<std::int64_t>(receiver_.next());
  const auto edge = std::max(next, static_cast<std::int64_t>(receiver_.edge()));
  // A peer that has filled the window sends its pure ACKs at the edge itself. At a closed window, a
  // segment at RCV.NXT still brings its ACK, though its data is not used.
  if (placement.begin > edge) return false;
  return placement.occupies_sequence() ? placement.end > next : placement.begin >= next;
}

// Whether a peer that has missed our ACKs may send this segment again, or ask with it whether we
// are there.
bool Endpoint::repeats_recent(const Placement& placement) const {
  const auto next = static_cast<std::int64_t>(receiver_.next());
  const auto window = static_cast<std::int64_t>(receiver_.edge() - receiver_.stream().consumed());
  return placement.begin < next && placement.begin >= next - std::max<std::int64_t>(window, 1) &&
         placement.end <= next;
}

// RFC 5961 section 5.2.
bool Endpoint::has_plausible_ack(const wire::TcpHeader& header) const {
  const std::int64_t ack = send_space_.to_position(header.acknowledgment, sender_.una());
  return ack <= static_cast<std::int64_t>(sender_.next()) &&
         ack >= static_cast<std::int64_t>(sender_.una()) -
                    static_cast<std::int64_t>(sender_.peer().largest());
}

void Endpoint::handle_unacceptable(const wire::TcpHeader& header, const Placement& placement,
                                   Instant now) {
  ++around_.counters().out_of_window_segments_in;
  if (is_synchronised() && repeats_recent(placement) && has_plausible_ack(header)) {
    acceptance_ = Acceptance::kAccepted;
  }
  if (placement.end <= static_cast<std::int64_t>(receiver_.next())) {
    receiver_.note_duplicate(placement.begin, placement.payload_end, around_.counters());
  }
  // Take the timestamp of a keep-alive. A peer that sends nothing else for 24 days must not look
  // old to PAWS (RFC 7323 section 5.5).
  if (note_keep_alive(header, placement) && acceptance_ == Acceptance::kAccepted) {
    note_timestamps(header, placement);
    if (leave_question(placement, now)) return;
  }
  if (state_ == State::kTimeWait && header.has(TcpFlags::kFin)) {
    timers().arm(Timer::kClose, now + profile().time_wait);
  }
  // Answers to empty segments are limited: two confused endpoints could exchange them for ever.
  if (placement.occupies_sequence() || challenges_.allow(now)) receiver_.acks().owe_now();
}

// RFC 9293 section 3.8.4: a keep-alive has the number before the next one, with or without a
// garbage byte.
bool Endpoint::note_keep_alive(const wire::TcpHeader& header, const Placement& placement) {
  if (state_ == State::kTimeWait || header.has(TcpFlags::kFin)) return false;
  if (placement.begin != static_cast<std::int64_t>(receiver_.next()) - 1) return false;
  if (placement.payload_end > placement.begin + 1) return false;
  // A probe of a closed window looks the same, but its host does not ask whether the far host is
  // there. It waits for room, as it always does if the link is the slower side. If the owner offers
  // no window at all, since the far host offers none, the probe is a question to the far host.
  if (receive_window() == 0 && receive_limit() > 0) return true;
  ++keep_alives_;
  ++around_.counters().keep_alives_in;
  return true;
}

bool Endpoint::leave_question(const Placement& placement, Instant now) {
  if (!leaves_questions_) return false;
  const bool has_byte = placement.payload_end > placement.begin;
  // Limited as all answers to empty segments are (handle_unacceptable()).
  if (!has_byte && !challenges_.allow(now)) return true;
  question_ = has_byte ? Question::kWithByte : Question::kEmpty;
  return true;
}

std::optional<std::uint64_t> Endpoint::urgent_mark_of(const wire::TcpHeader& header,
                                                      std::size_t payload_size) const {
  if (!header.has(TcpFlags::kUrg)) return std::nullopt;
  if (header.has(TcpFlags::kSyn) || header.has(TcpFlags::kRst)) return std::nullopt;
  const bool receives = state_ == State::kSynReceived || is_synchronised();
  if (!receives || receiver_.fin_taken()) return std::nullopt;
  const auto next = static_cast<std::int64_t>(receiver_.next());
  const std::int64_t begin = receive_space_.to_position(header.sequence, receiver_.next());
  // As Linux does: a segment that ends before RCV.NXT is old. That includes Linux's window probes,
  // though they are answered. A pointer of 0 counts as 1. A mark that is not beyond RCV.NXT is
  // void.
  if (begin + static_cast<std::int64_t>(payload_size) < next) return std::nullopt;
  const std::int64_t mark = begin + std::max<std::uint16_t>(header.urgent, 1);
  return mark > next ? std::optional(static_cast<std::uint64_t>(mark)) : std::nullopt;
}

void Endpoint::note_stray_answer(const wire::TcpHeader& header, const Placement& placement) {
  const bool nothing_new = !placement.occupies_sequence() &&
                           placement.begin == static_cast<std::int64_t>(receiver_.next()) &&
                           header.acknowledgment == send_space_.to_sequence(sender_.next());
  if (!nothing_new || sender_.una() != sender_.next()) return;
  const std::uint64_t window = std::uint64_t{header.window} << negotiation_.send_scale;
  if (window == sender_.peer_window()) ++stray_answers_;
}

bool Endpoint::completes_handshake(const wire::TcpHeader& header, Instant now) {
  if (header.acknowledgment != send_space_.to_sequence(0)) {
    reset_unacceptable(header);
    return false;
  }
  establish(std::uint64_t{header.window} << negotiation_.send_scale, now);
  return true;
}

Endpoint::Reports Endpoint::read_reports(const wire::TcpHeader& header, std::int64_t ack) const {
  Reports reports;
  for (std::size_t i = 0; i < header.options.sack_count; ++i) {
    const wire::TcpSackBlock& block = header.options.sack[i];
    const std::int64_t begin = send_space_.to_position(block.begin, sender_.una());
    const std::int64_t end = send_space_.to_position(block.end, sender_.una());
    if (begin < 0 || end <= begin) continue;
    const Range range{static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
    // RFC 2883 section 4: the first block reports a duplicate if it lies below the ACK or within
    // the second block.
    if (i == 0 && begin < ack) reports.duplicate = range;
    if (begin < ack) continue;
    if (i == 1 && reports.count == 1 && range.begin <= reports.blocks[0].begin &&
        reports.blocks[0].end <= range.end) {
      reports.duplicate = reports.blocks[--reports.count];
    }
    reports.blocks[reports.count++] = range;
  }
  return reports;
}

bool Endpoint::handle_acknowledgment(const wire::TcpHeader& header, const Placement& placement,
                                     Instant now) {
  const auto una = static_cast<std::int64_t>(sender_.una());
  const std::int64_t ack = send_space_.to_position(header.acknowledgment, sender_.una());
  if (!has_plausible_ack(header)) {
    challenge(now);
    return false;
  }
  acceptance_ = Acceptance::kAccepted;
  note_timestamps(header, placement);
  if (ack < una) return true;

  Acknowledgment acknowledgment;
  const Reports reports = read_reports(header, ack);
  acknowledgment.ack = static_cast<std::uint64_t>(ack);
  acknowledgment.sequence = placement.begin;
  acknowledgment.window = std::uint64_t{header.window} << negotiation_.send_scale;
  acknowledgment.congestion_echo = ecn_.agreed() && header.has(TcpFlags::kEce);
  acknowledgment.occupies_sequence = placement.occupies_sequence();
  acknowledgment.sack = std::span(reports.blocks).first(reports.count);
  acknowledgment.duplicate = reports.duplicate;
  if (const auto* timestamps = timestamps_of(header); timestamps != nullptr && ack > una) {
    acknowledgment.timestamp_rtt = timestamps_.age(timestamps->echo_reply, now);
    acknowledgment.echoed_before = timestamps_.echoed_before(timestamps->echo_reply, now);
  }
  sender_.handle_acknowledgment(acknowledgment, around_, now);
  if (ack > una && sender_.fin_acknowledged()) on_own_fin_acknowledged(now);
  return state_ != State::kClosed;
}

void Endpoint::handle_payload(const wire::TcpHeader& header, ConstBytes payload,
                              const Placement& placement, Instant now) {
  if (receiver_.fin_taken()) {  // the segment lies beyond the peer's own FIN
    receiver_.acks().owe_now();
    return;
  }
  if (!payload.empty()) receiver_.handle_data(placement.begin, payload, around_, now);
  if (header.has(TcpFlags::kFin)) receiver_.handle_fin(placement.payload_end);
  if (receiver_.take_fin()) on_peer_fin(now);
}

void Endpoint::challenge(Instant now) {
  if (!challenges_.allow(now)) return;
  ++around_.counters().challenge_acks;
  receiver_.acks().owe_now();
}

// RFC 9293 section 3.5.2, group 2: <SEQ=SEG.ACK><CTL=RST>.
void Endpoint::reset_unacceptable(const wire::TcpHeader& header) {
  Reset reset;
  reset.sequence = header.acknowledgment;
  reset.flags = TcpFlags::kRst;
  reset_ = reset;
}

void Endpoint::send_reset() {
  Reset reset;
  // The reset must lie in the peer's window, even if that has shrunk below what was sent.
  const std::uint64_t edge = std::max(sender_.peer().edge(), sender_.una());
  reset.sequence = send_space_.to_sequence(std::min(sender_.next(), edge));
  reset.acknowledgment = receive_space_.to_sequence(receiver_.next());
  reset.flags = TcpFlags::kRst | TcpFlags::kAck;
  reset_ = reset;
}

}  // namespace satrelay::tcp
