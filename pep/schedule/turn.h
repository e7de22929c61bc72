// What a carrier lets a session send, and what the session says it has sent: which class may send
// is the carrier's affair, which stream of a class the session's.
#pragma once

#include <cstddef>

#include "pep/schedule/class_set.h"

namespace satrelay::schedule {

// What a session may do with one packet.
struct Turn {
  ClassSet open =
      kEveryClass;      // may send, sooner or later: what waits in others is as if not there
  ClassId first = 0;    // whose bytes come first
  bool streams = true;  // bytes of streams at all, or only what concerns the session
  bool alone = true;    // nothing else waits for the carrier
};

// Bytes of streams in one packet, of one class.
struct ClassBytes {
  ClassId stream_class = 0;
  std::size_t bytes = 0;
  std::size_t booked = 0;  // the same, each as often as its host waits somewhere (host_share.h)
};

}  // namespace satrelay::schedule
