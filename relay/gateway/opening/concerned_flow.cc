#include "relay/gateway/opening/concerned_flow.h"

#include <utility>

#include "pep/wire/icmp.h"
#include "pep/wire/tcp.h"

namespace satrelay::gateway {
namespace {

// Whether the payload begins with the ports of a TCP segment, or of the first fragment of a TCP
// segment.
bool shows_tcp_ports(const Frame& frame) {
  const bool begins = frame.kind == FrameKind::kFragment && frame.ip.is_first_fragment() &&
                      frame.ip.protocol == wire::kProtocolTcp && !hides_transport(frame);
  return (begins || is_tcp(frame)) && frame.payload.size() >= 4;
}

}  // namespace

std::optional<FlowKey> concerned_flow(PortId port, const Frame& frame) {
  FlowKey key;
  key.vlans = vlans_of(frame.ethernet);
  if (is_icmp(frame)) {
    const auto message = wire::parse_icmp(frame.ip, frame.payload);
    if (!message || !wire::is_icmp_error(frame.ip, *message)) return std::nullopt;
    const auto quoted = wire::parse_quoted_flow(frame.ip, *message);
    if (!quoted || quoted->protocol != wire::kProtocolTcp) return std::nullopt;
    // An error on the LAN quotes a packet that the gateway sent to the host. An error on the WAN
    // quotes a packet that the host sent.
    key.local = quoted->destination;
    key.remote = quoted->source;
    key.local_port = quoted->destination_port;
    key.remote_port = quoted->source_port;
  } else {
    if (!shows_tcp_ports(frame)) return std::nullopt;
    key.local = frame.ip.source;
    key.remote = frame.ip.destination;
    key.local_port = load_u16(frame.payload.data());
    key.remote_port = load_u16(frame.payload.data() + 2);
  }
  if (port == PortId::kWan) {
    std::swap(key.local, key.remote);
    std::swap(key.local_port, key.remote_port);
  }
  return key;
}

}  // namespace satrelay::gateway
