#include "pep/tcp/output/output.h"

#include <algorithm>

#include "pep/tcp/segments/resets.h"
#include "pep/tcp/segments/segment_maker.h"

namespace satrelay::tcp {

using wire::TcpFlags;

namespace {

std::optional<SegmentToSend> poll_handshake(Tcb& tcb, Instant now) {
  if (tcb.state() == State::kClosed) return std::nullopt;
  if (tcb.opening.syn_owed) {
    tcb.opening.syn_owed = false;
    return make_syn(tcb, now);
  }
  if (tcb.state() == State::kSynReceived && tcb.receiver.acks().owed_now()) {
    return make_segment(tcb, 0, TcpFlags::kAck, now);
  }
  return std::nullopt;
}

std::optional<SegmentToSend> poll_data(Tcb& tcb, std::size_t most, Instant now) {
  std::size_t options = tcb.negotiation.timestamps ? kTimestampsSize : 0;
  if (tcb.negotiation.selective && tcb.receiver.has_sack()) {
    options += 4 + 8 * std::min(tcb.receiver.sack_count(), most_sack_blocks(tcb));
    // All segments of one call have the same SACK blocks, but a duplicate must be reported only
    // once.
    most = 1;
  }
  const auto room = static_cast<std::uint16_t>(tcb.negotiation.segment_limit - options);
  const auto transmission = tcb.sender.poll(room, most, tcb.around, now);
  if (!transmission) return std::nullopt;
  SegmentToSend segment = make_segment(tcb, transmission->begin, TcpFlags::kAck, now);
  std::uint8_t& flags = segment.header.flags;
  if (transmission->fin) flags |= TcpFlags::kFin;
  if (transmission->push && transmission->size > 0) flags |= TcpFlags::kPsh;
  if (transmission->reduced && tcb.ecn.agreed()) flags |= TcpFlags::kCwr;
  segment.payload_offset = transmission->begin;
  segment.payload_size = transmission->size;
  segment.count = transmission->count;
  // Only data that is sent for the first time may be marked as ECN-capable (RFC 3168 sections 6.1.4
  // to 6.1.6).
  if (tcb.ecn.agreed() && transmission->fresh && transmission->size > 0) {
    segment.ecn = EcnField::kCapable0;
  }
  tcb.counters().segments_out += transmission->count - 1;  // make_segment() counts the first
  tcb.counters().bytes_out += transmission->count * transmission->size;
  return segment;
}

}  // namespace

std::optional<SegmentToSend> poll_segments(Tcb& tcb, std::size_t most, Instant now) {
  if (tcb.reset) [[unlikely]]
    return take_reset(tcb, now);
  if (!tcb.lifecycle.is_synchronised()) [[unlikely]]
    return poll_handshake(tcb, now);
  const bool owed = tcb.receiver.acks().owed_now();
  // Without SACK, the peer counts duplicate ACKs. An ACK with data is no duplicate ACK (RFC 5681),
  // so this ACK is sent without data.
  const bool duplicate = owed && !tcb.negotiation.selective && tcb.receiver.has_gap();
  if (!duplicate && tcb.sender.has_work()) {
    if (auto segment = poll_data(tcb, most, now)) return segment;
  }
  if (owed || tcb.receiver.take_window_update()) {
    return make_segment(tcb, tcb.sender.next(), TcpFlags::kAck, now);
  }
  if (tcb.sender.peer().take_urgent_probe())
    return make_segment(tcb, tcb.sender.una(), TcpFlags::kAck, now);
  const bool asks = tcb.questions.keep_alive().take_owed();
  if (asks) ++tcb.counters().keep_alives_out;
  if (tcb.sender.peer().take_probe() || asks) {
    // Use the sequence number before SND.UNA: every stack answers such a segment with its ACK and
    // current window.
    return make_segment(tcb, tcb.sender.una() - 1, TcpFlags::kAck, now);
  }
  return std::nullopt;
}

bool may_have_segment(Tcb& tcb) {
  return tcb.reset || !tcb.lifecycle.is_synchronised() || tcb.receiver.acks().owed_now() ||
         tcb.sender.has_work() || tcb.receiver.owes_window_update() ||
         tcb.questions.keep_alive().owed() || tcb.sender.peer().owes_probe();
}

}  // namespace satrelay::tcp
