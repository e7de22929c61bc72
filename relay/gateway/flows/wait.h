// Reasons why the next byte of a flow waits, in one of its two directions.
#pragma once

#include <cstdint>
#include <string_view>

namespace satrelay::gateway {

enum class Wait : std::uint8_t {
  kHandshake,  // the connection with the host is not established yet
  kPeer,       // the peer is silent, or has restarted and its new handshake is not complete
  kSource,     // the host or the peer has not sent any more bytes
  kOurWindow,  // the host may not send: memory is low, or the far side accepts no more bytes
  kCredit,     // the peer grants no credit: the far host reads more slowly than this host writes
  kStore,      // the unacknowledged bytes fill the memory that the stream may use
  kLink,       // the stream waits for its turn on the link
  kAcknowledgment,  // all bytes were sent, and the other end has not acknowledged all of them yet
  kLostBytes,       // bytes have arrived, but earlier bytes are missing
  kRestOfBlock,     // a part of a compressed block is missing, and a block is delivered as a whole
  kHostWindow,      // the host does not read, or reads more slowly than bytes arrive
  kHostPath,        // the congestion window towards the host is full
  kMemory,          // memory is low
  kNothing,         // this direction has ended
};
// Returns a word for JSON, such as "host_window".
std::string_view to_string(Wait wait);

}  // namespace satrelay::gateway
