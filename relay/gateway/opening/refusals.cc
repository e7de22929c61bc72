#include "relay/gateway/opening/refusals.h"

#include <utility>

#include "relay/gateway/frames/bare_segment.h"

namespace satrelay::gateway {

using Flags = wire::TcpFlags;

void Refusals::refuse(PortId port, const Frame& frame, const wire::TcpHeader& segment,
                      std::size_t payload) {
  std::deque<Reset>& waiting = waiting_[index(port)];
  // RFC 1122 section 4.2.3.10: what was for many is not answered.
  if (frame.ethernet.destination.is_multicast() || frame.ip.destination.is_multicast()) return;
  if (segment.has(Flags::kRst) || waiting.size() == kMostWaiting) return;
  Reset reset{frame.ethernet,
              {frame.ip.source, frame.ip.destination, segment.source_port, segment.destination_port,
               vlans_of(frame.ethernet)},
              {}};
  std::swap(reset.to_host.source, reset.to_host.destination);
  if (segment.has(Flags::kAck)) {
    reset.header.sequence = segment.acknowledgment;
    reset.header.flags = Flags::kRst;
  } else {
    const std::uint32_t controls =
        (segment.has(Flags::kSyn) ? 1U : 0U) + (segment.has(Flags::kFin) ? 1U : 0U);
    reset.header.acknowledgment = segment.sequence + static_cast<std::uint32_t>(payload) + controls;
    reset.header.flags = static_cast<std::uint8_t>(Flags::kRst | Flags::kAck);
  }
  waiting.push_back(reset);
}

std::size_t Refusals::poll_frame(PortId port, MutableBytes out) {
  std::deque<Reset>& waiting = waiting_[index(port)];
  if (waiting.empty()) return 0;
  const Reset reset = waiting.front();
  waiting.pop_front();
  return write_bare_segment(reset.to_host, reset.key, reset.header, out);
}

}  // namespace satrelay::gateway
