// Endpoint: output of segments.
#include <algorithm>

#include "pep/tcp/endpoint.h"

namespace satrelay::tcp {

using wire::TcpFlags;

std::optional<SegmentToSend> Endpoint::poll_segments(std::size_t most, Instant now) {
  if (reset_) [[unlikely]] {
    SegmentToSend segment;
    segment.header.sequence = reset_.sequence;
    segment.header.acknowledgment = reset_.acknowledgment;
    segment.header.flags = reset_.flags;
    // RFC 7323 section 3.2.
    if (negotiation_.timestamps) segment.header.options.timestamps = stamp(now);
    reset_ = {};
    ++around_.counters().segments_out;
    return segment;
  }
  if (!is_synchronised()) [[unlikely]] {
    return poll_handshake(now);
  }
  const bool owed = receiver_.acks().owed_now();
  // Without SACK the peer counts duplicate ACKs, and an ACK with data does not count (RFC 5681).
  const bool duplicate = owed && !negotiation_.selective && receiver_.has_gap();
  if (!duplicate && sender_.has_work()) {
    if (auto segment = poll_data(most, now)) return segment;
  }
  if (owed || receiver_.take_window_update()) {
    return make_segment(sender_.next(), TcpFlags::kAck, now);
  }
  if (sender_.peer().take_urgent_probe()) return make_segment(sender_.una(), TcpFlags::kAck, now);
  const bool asks = keep_alive_.take_owed();
  if (asks) ++around_.counters().keep_alives_out;
  if (sender_.peer().take_probe() || asks) {
    // One below the peer's window: every stack answers such a segment with its ACK and current
    // window.
    return make_segment(sender_.una() - 1, TcpFlags::kAck, now);
  }
  return std::nullopt;
}

bool Endpoint::may_have_segment() {
  return reset_ || !is_synchronised() || receiver_.acks().owed_now() || sender_.has_work() ||
         receiver_.owes_window_update() || keep_alive_.owed() || sender_.peer().owes_probe();
}

std::optional<SegmentToSend> Endpoint::poll_data(std::size_t most, Instant now) {
  std::size_t options = negotiation_.timestamps ? kTimestampsSize : 0;
  if (negotiation_.selective && receiver_.has_sack()) {
    options += 4 + 8 * std::min(receiver_.sack_count(), most_sack_blocks());
    most = 1;  // the report of a duplicate is sent only once
  }
  const auto room = static_cast<std::uint16_t>(negotiation_.segment_limit - options);
  const auto transmission = sender_.poll(room, most, around_, now);
  if (!transmission) return std::nullopt;
  SegmentToSend segment = make_segment(transmission->begin, TcpFlags::kAck, now);
  std::uint8_t& flags = segment.header.flags;
  if (transmission->fin) flags |= TcpFlags::kFin;
  if (transmission->push && transmission->size > 0) flags |= TcpFlags::kPsh;
  if (transmission->reduced && ecn_.agreed()) flags |= TcpFlags::kCwr;
  segment.payload_offset = transmission->begin;
  segment.payload_size = transmission->size;
  segment.count = transmission->count;
  // Only data that is sent for the first time may be marked (RFC 3168 sections 6.1.4 to 6.1.6).
  if (ecn_.agreed() && transmission->fresh && transmission->size > 0) {
    segment.ecn = EcnField::kCapable0;
  }
  around_.counters().segments_out += transmission->count - 1;  // make_segment() counts the first
  around_.counters().bytes_out += transmission->count * transmission->size;
  return segment;
}

std::optional<SegmentToSend> Endpoint::poll_handshake(Instant now) {
  if (state_ == State::kClosed) return std::nullopt;
  if (syn_owed_) {
    syn_owed_ = false;
    return make_syn(now);
  }
  if (state_ == State::kSynReceived && receiver_.acks().owed_now()) {
    return make_segment(0, TcpFlags::kAck, now);
  }
  return std::nullopt;
}

SegmentToSend Endpoint::make_syn(Instant now) {
  SegmentToSend segment;
  wire::TcpHeader& header = segment.header;
  header.sequence = send_space_.initial_sequence();
  header.flags = TcpFlags::kSyn;
  header.window = receiver_.advertise_unscaled();
  header.options.mss = offer_.mss;
  header.options.window_scale = offer_.window_scale;
  header.options.sack_permitted = offer_.sack_permitted;
  if (offer_.timestamps) header.options.timestamps = wire::TcpTimestamps{timestamps_.value(now), 0};
  // The path may drop SYNs with ECN, so a repeated SYN goes without (RFC 3168 section 6.1.1.1).
  if (state_ == State::kSynSent && ecn_.offered() && syn_retries_ == 0) header.flags |= Ecn::kSetup;
  if (state_ == State::kSynReceived) {
    header.flags |= TcpFlags::kAck;
    if (ecn_.agreed()) header.flags |= TcpFlags::kEce;
    header.acknowledgment = receive_space_.to_sequence(0);
    if (!negotiation_.timestamps) header.options.timestamps.reset();
    if (header.options.timestamps) header.options.timestamps->echo_reply = timestamps_.recent();
    receiver_.on_ack_sent(around_.timers);
  }
  // The RTT is timed from the first SYN-ACK. If a duplicate SYN repeats it, the sample is too long,
  // which is safe.
  if (syn_sent_at_.is_never()) syn_sent_at_ = now;
  ++around_.counters().segments_out;
  return segment;
}

// As Linux does: if the mark is more than 0xffff ahead, only the newest segments carry a pointer,
// and it leads as far as a pointer can.
void Endpoint::point_to_urgent(wire::TcpHeader& header, std::uint64_t position) const {
  constexpr std::uint64_t kFarthest = 0xffff;
  const std::uint64_t mark = sender_.urgent_beyond(position);
  if (mark == 0) return;
  const std::uint64_t ahead = mark - position;
  if (ahead > kFarthest && position + kFarthest <= sender_.next()) return;
  header.flags |= TcpFlags::kUrg;
  header.urgent = static_cast<std::uint16_t>(std::min(ahead, kFarthest));
}

SegmentToSend Endpoint::make_segment(std::uint64_t position, std::uint8_t flags, Instant now) {
  SegmentToSend segment;
  wire::TcpHeader& header = segment.header;
  header.sequence = send_space_.to_sequence(position);
  header.acknowledgment = receive_space_.to_sequence(receiver_.acknowledged());
  header.flags = flags;
  if (ecn_.echo()) header.flags |= TcpFlags::kEce;
  if (sender_.is_urgent()) [[unlikely]]
    point_to_urgent(header, position);
  header.window = receiver_.advertise();
  if (negotiation_.timestamps) header.options.timestamps = stamp(now);
  if (negotiation_.selective && receiver_.has_sack()) {
    std::array<Range, wire::kMaxSackBlocks> blocks;
    const std::size_t count = receiver_.write_sack(std::span(blocks).first(most_sack_blocks()));
    for (std::size_t i = 0; i < count; ++i) {
      header.options.sack[i] = {receive_space_.to_sequence(blocks[i].begin),
                                receive_space_.to_sequence(blocks[i].end)};
    }
    header.options.sack_count = static_cast<std::uint8_t>(count);
  }
  receiver_.on_ack_sent(around_.timers);
  last_ack_sent_ = receiver_.acknowledged();
  ++around_.counters().segments_out;
  return segment;
}

void Endpoint::copy_payload(std::uint64_t offset, MutableBytes out) const {
  if (!out.empty()) sender_.queue().copy_out(offset, out);
}

}  // namespace satrelay::tcp
