// What the rules look at: a packet as it is, or a connection as its SYN is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/gateway/frames/frame.h"

namespace satrelay::gateway {

struct PolicyKey {
  IpAddress source;
  IpAddress destination;
  std::uint16_t port =
      0;  // destination port of TCP or UDP; 0: it has none, or it is not to be seen
  std::uint8_t protocol = 0;               // of the transport
  std::uint16_t vlan = config::kUntagged;  // the outermost
  std::uint8_t dscp = 0;
  config::Direction direction = config::Direction::kOutbound;
  std::optional<std::size_t> peer = {};  // before the far host
  // What the packet hides: of that a rule that drops or resets is taken to want what is there.
  enum class Hidden : std::uint8_t {
    kNothing,
    kPort,       // of TCP or UDP
    kTransport,  // protocol and port
  };
  Hidden hidden = Hidden::kNothing;
  // Before the transport: a rule that wants one of their numbers for its protocol matches, too.
  wire::ExtensionHeaders extensions = {};
};

// Of an IP packet (FrameKind::kFragment and on), without the peer.
PolicyKey policy_key(const Frame& frame, config::Direction direction);

// The outermost VLAN of a header.
std::uint16_t outermost_vlan(const wire::EthernetHeader& ethernet);

}  // namespace satrelay::gateway
