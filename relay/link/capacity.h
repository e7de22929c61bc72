// Computes the largest number of frames that a direction of a link holds: the frames that its rate
// carries within its delay, and the frames of its queue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::link {

// Whether the model stores each frame that waits for the transmitter. Otherwise it keeps only the
// time until which the transmitter is busy.
bool frames_wait(const config::LinkDirection& direction);

// The highest values of a direction over all its steps.
struct Peak {
  BitRate rate;  // highest rate of the steps that limit the rate
  // True if the rate is unlimited at some time.
  bool unlimited = false;
  // The longest time that a frame takes, with jitter and reordering.
  Duration time;
};
Peak peak_of(const config::LinkDirection& direction);

// How frames_in_flight() computes its result. `smallest_frame`: the size that all frames are
// assumed to have, in accounted bytes. It should be smaller if much of the traffic consists of
// short frames. If the rate is unlimited, there is no product of rate and delay, and the result is
// `if_unlimited`.
struct CapacityRule {
  std::size_t smallest_frame = 256;
  std::size_t if_unlimited = std::size_t{1} << 17;
  std::size_t at_least = 4096;
};
std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule);

}  // namespace satrelay::link
