// The carrier says what a session may send, and the session says what it has sent. The carrier
// chooses the class, and the session chooses the stream of the class.
#pragma once

#include <cstddef>

#include "pep/schedule/class_set.h"

namespace satrelay::schedule {

// The carrier's permission for one packet of a session.
struct Turn {
  // Classes that may send, sooner or later. Bytes of other classes do not count as waiting.
  ClassSet open = kEveryClass;
  ClassId first = 0;    // the class with the first bytes of the packet
  bool streams = true;  // stream bytes may be sent, not only what concerns the session
  bool alone = true;    // nothing else waits for the carrier
};

// Bytes of streams in one packet, of one class.
struct ClassBytes {
  ClassId stream_class = 0;
  std::size_t bytes = 0;
  std::size_t booked = 0;  // the same, times the places where the host waits (host_share.h)
};

}  // namespace satrelay::schedule
