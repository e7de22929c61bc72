// A carrier tells a session what it may send, and the session tells the carrier what it has sent.
// The carrier chooses the class, and the session chooses the stream within the class.
#pragma once

#include <cstddef>

#include "pep/schedule/class_set.h"

namespace satrelay::schedule {

// The carrier's permission to send a packet of a session, or several packets at the same instant.
struct Turn {
  // Classes that may send now or later. Bytes of other classes do not count as waiting.
  ClassSet open = kEveryClass;
  ClassId first = 0;    // the class with the first bytes of the packet
  bool streams = true;  // stream bytes may be sent, and not only frames of the session itself
  bool alone = true;    // nothing else waits for the carrier
};

// Stream bytes of one class in one packet.
struct ClassBytes {
  ClassId stream_class = 0;
  std::size_t bytes = 0;
  std::size_t booked = 0;  // charged bytes: each byte times the factor of its host (host_share.h)
  std::size_t hosts = 0;   // hosts of the class that still wait
};

}  // namespace satrelay::schedule
