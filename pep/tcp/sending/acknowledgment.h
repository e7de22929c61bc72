// The parts of an acceptable segment that the sender needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

struct Acknowledgment {
  std::uint64_t ack = 0;                     // acknowledged position, at most next()
  std::int64_t sequence = 0;                 // position of the segment itself in the peer's stream
  std::uint64_t window = 0;                  // bytes, already scaled
  bool congestion_echo = false;              // the ECE flag
  bool occupies_sequence = false;            // carries payload or FIN, so it is no duplicate ACK
  std::span<const Range> sack;               // positions in our stream
  std::optional<Range> duplicate;            // a range that the peer received twice (RFC 2883)
  Duration timestamp_rtt;                    // measured with TSecr; zero if there is no sample
  Instant echoed_before = Instant::never();  // we sent the value in TSecr before this instant
};

}  // namespace satrelay::tcp
