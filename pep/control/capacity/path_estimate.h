// The path without a queue: its shortest round trip lately, and the share of the packets that it
// loses.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::control {

class PathEstimate {
 public:
  // Forgets what was seen. `rtt` counts as the first sample.
  void restart(Duration rtt, Instant now);
  // Takes the round trip of a report; zero if it has none.
  void add_rtt(Duration rtt, Instant now);
  // Takes the packets of a report, of which the path has lost `lost`. The caller leaves out reports
  // of a full queue, which loses packets that the path would not lose.
  void add_packets(std::uint64_t packets, std::uint64_t lost);

  Duration rtt() const { return rtt_; }
  double loss() const { return loss_; }
  // The rate that was sent if `arrived` is the rate that arrived; at most `most`.
  BitRate sent_for(BitRate arrived, BitRate most) const;

 private:
  Duration rtt_;
  // The shortest since next_rtt_since_: replaces rtt_ when that is out of date.
  Duration next_rtt_;
  Instant next_rtt_since_;
  double loss_ = 0;
};

}  // namespace satrelay::control
