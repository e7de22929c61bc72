// Properties of the path without a queue: the shortest recent round trip, and the share of packets
// that the path loses.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

class PathEstimate {
 public:
  // Forgets all samples. `rtt` counts as the first new sample.
  void restart(Duration rtt, Instant now);
  // Adds the round trip of a report. `rtt` is zero if the report has none.
  void add_rtt(Duration rtt, Instant now);
  // Adds the packets of a report. The path has lost `lost` of these packets. The caller leaves out
  // reports from times when the queue may be full, because a full queue drops packets that the path
  // would not lose.
  void add_packets(std::uint64_t packets, std::uint64_t lost);

  Duration rtt() const { return rtt_; }
  double loss() const { return loss_; }
  // Returns the rate at which packets must be sent so that they arrive at the rate `arrived`, since
  // the path loses some of them. The result is at most `most`.
  BitRate sent_for(BitRate arrived, BitRate most) const;

 private:
  Duration rtt_;
  // The shortest round trip since next_rtt_since_. It replaces rtt_ when rtt_ is out of date.
  Duration next_rtt_;
  Instant next_rtt_since_;
  double loss_ = 0;
};

}  // namespace satrelay::control
