// Reasons why the next byte of a direction of a flow waits.
#pragma once

#include <cstdint>
#include <string_view>

namespace satrelay::gateway {

enum class Wait : std::uint8_t {
  kHandshake,       // the connection with the host is not established yet
  kPeer,            // the peer is silent, or was started anew and is being greeted
  kSource,          // there is nothing to carry: the host, or the peer, has sent nothing more
  kOurWindow,       // the host may not send: memory is low, or the far side takes no more
  kCredit,          // no credit from the peer: the far host reads more slowly than this one writes
  kStore,           // the most bytes that may be stored are in flight
  kLink,            // its turn on the link
  kAcknowledgment,  // all bytes have left, and the other end has not acknowledged them yet
  kLostBytes,       // bytes are missing before the bytes that have arrived
  kRestOfBlock,     // a compressed block is delivered whole: the rest is missing
  kHostWindow,      // the host does not read, or reads more slowly than bytes come
  kHostPath,        // congestion control towards the host
  kMemory,          // memory is low
  kNothing,         // this direction has ended
};
// A word for JSON: "host_window".
std::string_view to_string(Wait wait);

}  // namespace satrelay::gateway
