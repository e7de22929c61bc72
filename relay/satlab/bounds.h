// Calculates the best performance that a link allows, from its conditions and from the header sizes
// of docs/stp-wire.md: the erasure capacity (1 - p) x rate x payload share, and the earliest time
// at which the last byte of a transfer can arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Returns the number of bytes of a full data packet that are not payload: the IPv4 and UDP headers,
// STP's header and trailer, and the header of one DATA frame of a stream with an id below 64 (type,
// stream, offset). The offset is a varint, so its length depends on `stream_bytes`.
std::uint32_t packet_headers(std::uint64_t stream_bytes);

// Returns the payload of a full packet, divided by the bytes that the link counts for the packet.
double payload_share(std::uint32_t mtu, std::uint32_t headers, std::uint32_t overhead);

// Returns payload bits a second: rate x (1 - loss) x share.
double payload_rate(BitRate rate, double loss, double share);

// Returns the mean loss of a direction: the loss of its Bernoulli model, or the long-run mean of
// its Gilbert-Elliott chain.
double mean_loss(const config::LinkDirection& direction);

// The capacity of one direction as a step function of time, from the experiment's configuration and
// its link changes. Only payload counts, in packets that fill the experiment's MTU.
class LinkBound {
 public:
  LinkBound(const Experiment& experiment, sim::Side from, std::uint64_t stream_bytes);

  // Returns how many payload bits can cross the link between two times.
  double bits_between(Duration begin, Duration end) const;
  // Returns the earliest time at which the last of `bytes` payload bytes can arrive, if the first
  // is ready to be sent at `start`. Infinite if the link can never carry that many bytes.
  Duration arrival(Duration start, std::uint64_t bytes) const;

 private:
  struct Step {
    double from = 0;  // start of the step, in seconds
    double bits_per_second = 0;
    double delay = 0;  // one-way delay, in seconds
  };
  std::vector<Step> steps_;
};

}  // namespace satrelay::satlab
