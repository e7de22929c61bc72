// What the next byte of a direction of a flow waits for.
#pragma once

#include <cstdint>
#include <string_view>

namespace satrelay::gateway {

enum class Wait : std::uint8_t {
  kHandshake,       // the connection with the host does not stand yet
  kPeer,            // the peer is silent, or has been started anew and is being greeted
  kSource,          // there is nothing to carry: the host, or the peer, has sent nothing more
  kOurWindow,       // the host may not send: memory is low, or the far side takes no more
  kCredit,          // the peer grants no more: the far host reads more slowly than this one writes
  kStore,           // as much as may be stored is under way
  kLink,            // its turn on the link
  kAcknowledgment,  // all has left, and the other end is yet to say that it has come
  kLostBytes,       // bytes are missing before those that have come
  kRestOfBlock,     // a compressed block is delivered whole
  kHostWindow,      // the host does not read, or more slowly than bytes come
  kHostPath,        // congestion control towards the host
  kMemory,          // memory is low
  kNothing,         // this direction is over
};
// A word for JSON: "host_window".
std::string_view to_string(Wait wait);

}  // namespace satrelay::gateway
