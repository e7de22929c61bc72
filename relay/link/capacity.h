// How many frames a direction of a link can hold at most: what its rate carries in its delay, and
// its queue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/model/link_model.h"
#include "config/model/schema.h"

namespace satrelay::link {

// Whether frames really wait, each in its place, instead of the transmitter being busy for so long.
bool frames_wait(const config::LinkDirection& direction);

// The most that it comes to over all its steps.
struct Peak {
  BitRate rate;            // of those with a limit
  bool unlimited = false;  // it has none, at some time
  Duration time;           // on the way
};
Peak peak_of(const config::LinkDirection& direction);

// `smallest_frame`: accounted bytes; the more of the traffic is short, the less it should be. With
// an unlimited rate there is no product to follow, and `if_unlimited` is the answer.
struct CapacityRule {
  std::size_t smallest_frame = 256;
  std::size_t if_unlimited = std::size_t{1} << 17;
  std::size_t at_least = 4096;
};
std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule);

}  // namespace satrelay::link
