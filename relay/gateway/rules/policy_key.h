// The values of a packet with which rules are compared. A connection has the values of its SYN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/ids.h"

namespace satrelay::gateway {

struct PolicyKey {
  IpAddress source;
  IpAddress destination;
  // The destination port of TCP or UDP. 0 if the packet has no port, or if the port is not visible.
  std::uint16_t port = 0;
  // IP protocol number of the transport.
  std::uint8_t protocol = 0;
  std::uint16_t vlan = config::kUntagged;  // the outermost VLAN
  std::uint8_t dscp = 0;
  config::Direction direction = config::Direction::kOutbound;
  // The peer that serves the far host.
  std::optional<FarGatewayId> peer = {};
  // The values that are not visible in the packet. If a rule demands such a value, it matches only
  // if it drops or resets. It then matches with any demanded value.
  enum class Hidden : std::uint8_t {
    kNothing,
    kPort,       // the port of TCP or UDP
    kTransport,  // the protocol and the port
  };
  Hidden hidden = Hidden::kNothing;
  // The headers before the transport. The protocol of a rule is compared with the numbers of these
  // headers too.
  wire::ExtensionHeaders extensions = {};
};

// Returns the key of an IP packet (FrameKind::kFragment and later kinds). Leaves `peer` empty.
PolicyKey policy_key(const Frame& frame, config::Direction direction);

// The outermost VLAN of a header.
std::uint16_t outermost_vlan(const wire::EthernetHeader& ethernet);

}  // namespace satrelay::gateway
