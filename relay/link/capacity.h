// Computes the maximum number of frames that are in one direction of a link at the same time: in
// the queue, and in flight.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::link {

// Whether the model stores each frame that waits for the transmitter. If not, it stores only the
// time until which the transmitter is busy.
bool frames_wait(const config::LinkDirection& direction);

// The highest values of a direction over all its steps.
struct Peak {
  BitRate rate;  // highest rate of the steps that limit the rate
  // True if the rate is unlimited at some time.
  bool unlimited = false;
  // The longest time from the transmitter to the other end, with jitter and reordering.
  Duration time;
};
Peak peak_of(const config::LinkDirection& direction);

// How frames_in_flight() computes its result. `smallest_frame`: assumed size of all frames, in
// accounted bytes. Use a smaller size if most frames are short. `if_unlimited`: the result if the
// rate is unlimited. `at_least`: the minimum result.
struct CapacityRule {
  std::size_t smallest_frame = 256;
  std::size_t if_unlimited = std::size_t{1} << 17;
  std::size_t at_least = 4096;
};
std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule);

}  // namespace satrelay::link
