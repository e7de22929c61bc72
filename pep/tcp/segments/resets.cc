#include "pep/tcp/segments/resets.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace satrelay::tcp {

using wire::TcpFlags;

void owe_reset(Tcb& tcb) {
  // The reset must lie in the peer's window, even if that window has shrunk below the data that we
  // sent.
  const std::uint64_t edge = std::max(tcb.sender.peer().edge(), tcb.sender.una());
  tcb.reset = {.sequence = tcb.send_space.to_sequence(std::min(tcb.sender.next(), edge)),
               .acknowledgment = tcb.receive_space.to_sequence(tcb.receiver.next()),
               .flags = TcpFlags::kRst | TcpFlags::kAck};
}

void reset_unacceptable(Tcb& tcb, const wire::TcpHeader& header) {
  tcb.reset = {.sequence = header.acknowledgment, .flags = TcpFlags::kRst};
}

SegmentToSend take_reset(Tcb& tcb, Instant now) {
  const Reset reset = std::exchange(tcb.reset, {});
  SegmentToSend segment;
  segment.header.sequence = reset.sequence;
  segment.header.acknowledgment = reset.acknowledgment;
  segment.header.flags = reset.flags;
  // RFC 7323 section 3.2.
  if (tcb.negotiation.timestamps) segment.header.options.timestamps = tcb.stamp(now);
  ++tcb.counters().segments_out;
  return segment;
}

}  // namespace satrelay::tcp
