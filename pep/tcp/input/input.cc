#include "pep/tcp/input/input.h"

#include "pep/tcp/ending/ending.h"
#include "pep/tcp/input/arrival.h"

namespace satrelay::tcp {

using wire::TcpFlags;

namespace {

// Header prediction (Van Jacobson). It takes segments that bring the next bytes of an established
// connection, and repeat the ACK and the window that we already know. Conditions that are the same
// for all segments are checked once.
std::size_t take_next_bytes(Tcb& tcb, std::span<const Segment> segments, Instant now) {
  if (tcb.state() != State::kEstablished || tcb.ecn.agreed() || tcb.questions.keep_alive().asking())
    return 0;
  if (!tcb.receiver.is_in_order()) return 0;
  const wire::TcpHeader& first = *segments.front().header;
  const std::uint64_t una = tcb.sender.una();
  const std::uint64_t window = tcb.negotiation.window_of(first);
  std::uint64_t next = tcb.receiver.next();
  if (first.acknowledgment != tcb.send_space.to_sequence(una) ||
      !tcb.sender.is_known(una, window, static_cast<std::int64_t>(next), tcb.timers())) {
    return 0;
  }
  std::uint64_t last = next;
  std::size_t taken = 0;
  for (const auto& [header, payload, ecn] : segments) {
    const std::uint8_t flags = header->flags & static_cast<std::uint8_t>(~TcpFlags::kPsh);
    if (flags != TcpFlags::kAck || header->options.sack_count > 0 || payload.empty()) break;
    if (header->sequence != tcb.receive_space.to_sequence(next)) break;
    if (header->acknowledgment != first.acknowledgment || header->window != first.window) break;
    const auto* timestamps = tcb.negotiation.timestamps_of(*header);
    if (timestamps != nullptr && tcb.timestamps.is_old(timestamps->value)) break;
    if (!tcb.receiver.admits(payload.size())) break;
    if (timestamps != nullptr) {
      tcb.timestamps.update(timestamps->value, static_cast<std::int64_t>(next), tcb.last_ack_sent);
    }
    last = next;
    next += payload.size();
    ++taken;
    if (!tcb.receiver.handle_next(payload, tcb.around, now)) break;
  }
  if (taken > 0) tcb.sender.handle_known(static_cast<std::int64_t>(last));
  tcb.counters().segments_in += taken;
  return taken;
}

// Header prediction for pure ACKs that acknowledge more data, while no data is missing.
std::size_t take_acknowledgments(Tcb& tcb, std::span<const Segment> segments, Instant now) {
  if (tcb.state() != State::kEstablished && tcb.state() != State::kCloseWait) return 0;
  if (tcb.questions.keep_alive().asking() || !tcb.sender.recovery().misses_nothing(tcb.timers()))
    return 0;
  const std::uint64_t next = tcb.receiver.next();
  const std::uint32_t sequence = tcb.receive_space.to_sequence(next);
  std::size_t taken = 0;
  for (const auto& [header, payload, ecn] : segments) {
    if (header->flags != TcpFlags::kAck || header->options.sack_count > 0) break;
    if (header->sequence != sequence || !payload.empty()) break;
    const std::int64_t ack = tcb.send_space.to_position(header->acknowledgment, tcb.sender.una());
    if (ack <= static_cast<std::int64_t>(tcb.sender.una()) ||
        ack > static_cast<std::int64_t>(tcb.sender.next())) {
      break;
    }
    Acknowledgment acknowledgment;
    if (const auto* timestamps = tcb.negotiation.timestamps_of(*header)) {
      if (tcb.timestamps.is_old(timestamps->value)) break;
      tcb.timestamps.update(timestamps->value, static_cast<std::int64_t>(next), tcb.last_ack_sent);
      acknowledgment.timestamp_rtt = tcb.timestamps.age(timestamps->echo_reply, now);
      acknowledgment.echoed_before = tcb.timestamps.echoed_before(timestamps->echo_reply, now);
    }
    acknowledgment.ack = static_cast<std::uint64_t>(ack);
    acknowledgment.sequence = static_cast<std::int64_t>(next);
    acknowledgment.window = tcb.negotiation.window_of(*header);
    tcb.sender.handle_advance(acknowledgment, tcb.around, now);
    ++taken;
  }
  if (taken > 0) tcb.sender.recovery().on_advanced(tcb.around, now);
  tcb.counters().segments_in += taken;
  return taken;
}

// Only accepted segments prove that the peer is alive. An attacker that does not know the sequence
// numbers must not answer for a host that is gone, nor keep its connection alive.
void note_life(Tcb& tcb, Instant now) {
  if (tcb.questions.keep_alive().asking()) {
    tcb.questions.keep_alive().on_heard();
    tcb.timers().cancel(Timer::kKeepAlive);
  }
  if (tcb.state() == State::kFinWait2) arm_half_closed(tcb, now);
}

}  // namespace

TakenSegments handle_segments(Tcb& tcb, std::span<const Segment> segments, Instant now) {
  const Segment& first = segments.front();
  const std::size_t predicted = first.payload.empty() ? take_acknowledgments(tcb, segments, now)
                                                      : take_next_bytes(tcb, segments, now);
  if (predicted > 0) return {predicted, Acceptance::kAccepted};
  const Acceptance acceptance = Arrival(tcb, first, now).handle();
  if (acceptance == Acceptance::kAccepted) note_life(tcb, now);
  return {1, acceptance};
}

}  // namespace satrelay::tcp
