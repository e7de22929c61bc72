// The side of the satellite link on which the client of a flow is.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class Origin : std::uint8_t {
  kLan,   // the client is on this LAN: our endpoint is the TCP server towards the client
  kPeer,  // the client is behind the peer: our endpoint is the TCP client towards the server
};

}  // namespace satrelay::gateway
