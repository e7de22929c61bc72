// The most frames that a direction of a link holds: the frames that its rate carries within its
// delay, and the frames of its queue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::link {

// Whether frames really wait, each in a place of its own. Otherwise the model keeps only the time
// until which the transmitter is busy.
bool frames_wait(const config::LinkDirection& direction);

// The highest values of a direction over all its steps.
struct Peak {
  BitRate rate;  // the highest limited rate
  // At some time there is no limit.
  bool unlimited = false;
  // The longest time on the way.
  Duration time;
};
Peak peak_of(const config::LinkDirection& direction);

// `smallest_frame`: accounted bytes; it should be smaller if much of the traffic consists of short
// frames. An unlimited rate gives no product, and the result is `if_unlimited`.
struct CapacityRule {
  std::size_t smallest_frame = 256;
  std::size_t if_unlimited = std::size_t{1} << 17;
  std::size_t at_least = 4096;
};
std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule);

}  // namespace satrelay::link
