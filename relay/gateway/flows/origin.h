// The side of the satellite link on which the client of a flow is.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class Origin : std::uint8_t {
  kLan,   // the client is on this gateway's LAN: our endpoint plays the server
  kPeer,  // the client is behind the peer: our endpoint plays the client
};

}  // namespace satrelay::gateway
