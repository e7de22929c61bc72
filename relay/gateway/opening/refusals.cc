#include "relay/gateway/opening/refusals.h"

namespace satrelay::gateway {

using Flags = wire::TcpFlags;

bool Refusals::answers(PortId port, const Frame& frame, const wire::TcpHeader& segment) const {
  // RFC 1122 section 4.2.3.10: a segment to a broadcast or multicast address gets no answer.
  if (frame.ethernet.destination.is_multicast() || frame.ip.destination.is_multicast()) {
    return false;
  }
  return !segment.has(Flags::kRst) && !waiting_[index(port)].full();
}

void Refusals::refuse(PortId port, const Frame& frame, const wire::TcpHeader& segment,
                      std::size_t payload) {
  if (!answers(port, frame, segment)) return;
  const FlowKey key{frame.ip.source, frame.ip.destination, segment.source_port,
                    segment.destination_port, vlans_of(frame.ethernet)};
  wire::TcpHeader reset;
  if (segment.has(Flags::kAck)) {
    reset.sequence = segment.acknowledgment;
    reset.flags = Flags::kRst;
  } else {
    const std::uint32_t controls =
        (segment.has(Flags::kSyn) ? 1U : 0U) + (segment.has(Flags::kFin) ? 1U : 0U);
    reset.acknowledgment = segment.sequence + static_cast<std::uint32_t>(payload) + controls;
    reset.flags = static_cast<std::uint8_t>(Flags::kRst | Flags::kAck);
  }
  waiting_[index(port)].push(frame.ethernet.reversed(), key, reset);
}

bool Refusals::take_back(const FlowKey& key, const wire::EthernetHeader& to_server,
                         std::uint32_t sequence) {
  SegmentQueue& waiting = waiting_[index(PortId::kWan)];
  if (waiting.full()) return false;
  const FlowKey from_server{key.remote, key.local, key.remote_port, key.local_port, key.vlans};
  waiting.push_reset(to_server, from_server, sequence);
  return true;
}

}  // namespace satrelay::gateway
