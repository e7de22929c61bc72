// The parts of an acceptable segment that concern the sender.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "pep/base/containers/range_set.h"
#include "pep/base/time.h"

namespace satrelay::tcp {

struct Acknowledgment {
  std::uint64_t ack = 0;           // position, at most next()
  std::int64_t sequence = 0;       // position of the segment itself
  std::uint64_t window = 0;        // bytes, unscaled
  bool congestion_echo = false;    // ECE
  bool occupies_sequence = false;  // carries payload or FIN: never a duplicate ACK
  std::span<const Range> sack;     // positions
  std::optional<Range> duplicate;  // range that the peer reports to have had before (RFC 2883)
  Duration timestamp_rtt;          // from TSecr; zero if there is none
  Instant echoed_before = Instant::never();  // the value in TSecr was sent before this
};

}  // namespace satrelay::tcp
