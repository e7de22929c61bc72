// A carrier permits a session to send certain classes (Turn). Afterwards the session reports how
// many bytes of each class it has sent (ClassBytes). The carrier chooses the class, and the session
// chooses the stream within the class.
#pragma once

#include <cstddef>

#include "pep/schedule/class_set.h"

namespace satrelay::schedule {

// The carrier's permission to send a packet of a session, or several packets at the same instant.
struct Turn {
  // Classes that may send on this carrier, now or later. Bytes of other classes do not count as
  // waiting for the carrier.
  ClassSet open = kEveryClass;
  ClassId first = 0;  // class of the first stream bytes in the packet
  // If false, only frames of the session itself may be sent, and no stream bytes.
  bool streams = true;
  // If true, nothing else waits for the carrier: no other session, no other class and no bridged
  // frame.
  bool alone = true;
};

// Stream bytes of one class in one packet.
struct ClassBytes {
  ClassId stream_class = 0;
  std::size_t bytes = 0;
  std::size_t booked = 0;  // charged bytes: each byte times the factor of its host (host_share.h)
  std::size_t hosts = 0;   // number of hosts that still have new bytes of the class to send
};

}  // namespace satrelay::schedule
