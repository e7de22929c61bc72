#include "relay/gateway/rules/policy_key.h"

namespace satrelay::gateway {
namespace {

// Only the first fragment of a datagram has ports. If a rule drops this fragment, the other
// fragments do no harm, since no host can reassemble the datagram.
bool should_have_ports(const Frame& frame) {
  const std::uint8_t protocol = frame.ip.protocol;
  if (protocol != wire::kProtocolTcp && protocol != wire::kProtocolUdp) return false;
  return frame.kind != FrameKind::kFragment || frame.ip.is_first_fragment();
}

}  // namespace

std::uint16_t outermost_vlan(const wire::EthernetHeader& ethernet) {
  return ethernet.tag_count == 0 ? config::kUntagged : ethernet.tags[0].vlan_id();
}

PolicyKey policy_key(const Frame& frame, config::Direction direction) {
  PolicyKey key;
  key.source = frame.ip.source;
  key.destination = frame.ip.destination;
  if (hides_transport(frame)) {
    key.hidden = PolicyKey::Hidden::kTransport;
  } else if (should_have_ports(frame)) {
    if (frame.payload.size() >= 4) {
      key.port = load_u16(frame.payload.data() + 2);
    } else {
      key.hidden = PolicyKey::Hidden::kPort;
    }
  }
  key.extensions = frame.extensions;
  key.protocol = frame.ip.protocol;
  key.vlan = outermost_vlan(frame.ethernet);
  key.dscp = static_cast<std::uint8_t>(frame.ip.traffic_class >> 2);
  key.direction = direction;
  return key;
}

}  // namespace satrelay::gateway
