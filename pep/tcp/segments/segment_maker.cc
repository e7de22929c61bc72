#include "pep/tcp/segments/segment_maker.h"

#include <algorithm>
#include <array>
#include <span>

#include "pep/wire/tcp.h"

namespace satrelay::tcp {

using wire::TcpFlags;

namespace {

// Sets the urgent pointer of a segment at `position`. The pointer is at most 0xffff. If the mark is
// further ahead, the pointer is 0xffff, and only a segment that begins in the last 0xffff bytes
// sent so far carries it. Linux does the same.
void point_to_urgent(const Tcb& tcb, wire::TcpHeader& header, std::uint64_t position) {
  constexpr std::uint64_t kFarthest = 0xffff;
  const std::uint64_t mark = tcb.sender.urgent_beyond(position);
  if (mark == 0) return;
  const std::uint64_t ahead = mark - position;
  if (ahead > kFarthest && position + kFarthest <= tcb.sender.next()) return;
  header.flags |= TcpFlags::kUrg;
  header.urgent = static_cast<std::uint16_t>(std::min(ahead, kFarthest));
}

}  // namespace

SegmentToSend make_segment(Tcb& tcb, std::uint64_t position, std::uint8_t flags, Instant now) {
  SegmentToSend segment;
  wire::TcpHeader& header = segment.header;
  header.sequence = tcb.send_space.to_sequence(position);
  header.acknowledgment = tcb.receive_space.to_sequence(tcb.receiver.acknowledged());
  header.flags = flags;
  if (tcb.ecn.echo()) header.flags |= TcpFlags::kEce;
  if (tcb.sender.is_urgent()) [[unlikely]]
    point_to_urgent(tcb, header, position);
  header.window = tcb.receiver.advertise();
  if (tcb.negotiation.timestamps) header.options.timestamps = tcb.stamp(now);
  if (tcb.negotiation.selective && tcb.receiver.has_sack()) {
    std::array<Range, wire::kMaxSackBlocks> blocks;
    const std::size_t count =
        tcb.receiver.write_sack(std::span(blocks).first(most_sack_blocks(tcb)));
    for (std::size_t i = 0; i < count; ++i) {
      header.options.sack[i] = {tcb.receive_space.to_sequence(blocks[i].begin),
                                tcb.receive_space.to_sequence(blocks[i].end)};
    }
    header.options.sack_count = static_cast<std::uint8_t>(count);
  }
  tcb.receiver.on_ack_sent(tcb.timers());
  tcb.last_ack_sent = tcb.receiver.acknowledged();
  ++tcb.counters().segments_out;
  return segment;
}

SegmentToSend make_syn(Tcb& tcb, Instant now) {
  Opening& opening = tcb.opening;
  SegmentToSend segment;
  wire::TcpHeader& header = segment.header;
  header.sequence = tcb.send_space.initial_sequence();
  header.flags = TcpFlags::kSyn;
  header.window = tcb.receiver.advertise_unscaled();
  header.options.mss = opening.offer.mss;
  header.options.window_scale = opening.offer.window_scale;
  header.options.sack_permitted = opening.offer.sack_permitted;
  if (opening.offer.timestamps)
    header.options.timestamps = wire::TcpTimestamps{tcb.timestamps.value(now), 0};
  // The path may drop SYNs with ECN, so a repeated SYN does not offer ECN (RFC 3168 section
  // 6.1.1.1).
  if (tcb.state() == State::kSynSent && tcb.ecn.offered() && opening.syn_retries == 0)
    header.flags |= Ecn::kSetup;
  if (tcb.state() == State::kSynReceived) {
    header.flags |= TcpFlags::kAck;
    if (tcb.ecn.agreed()) header.flags |= TcpFlags::kEce;
    header.acknowledgment = tcb.receive_space.to_sequence(0);
    if (!tcb.negotiation.timestamps) header.options.timestamps.reset();
    if (header.options.timestamps) header.options.timestamps->echo_reply = tcb.timestamps.recent();
    tcb.receiver.on_ack_sent(tcb.timers());
  }
  // The RTT is measured from the first SYN-ACK. If a duplicate SYN causes another SYN-ACK, the
  // sample may be too long, which is safe.
  if (opening.syn_sent_at.is_never()) opening.syn_sent_at = now;
  ++tcb.counters().segments_out;
  return segment;
}

}  // namespace satrelay::tcp
