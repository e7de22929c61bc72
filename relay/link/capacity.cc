#include "relay/link/capacity.h"

#include <algorithm>

#include "relay/link/serializer.h"

namespace satrelay::link {

std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule) {
  BitRate rate = direction.rate;
  bool unlimited = rate.is_zero();
  for (const config::RateStep& step : direction.rate_steps) {
    rate = std::max(rate, step.rate);
    unlimited = unlimited || step.rate.is_zero();
  }
  if (unlimited) return rule.if_unlimited;
  Duration time = direction.delay;
  for (const config::DelayStep& step : direction.delay_steps) time = std::max(time, step.delay);
  time = time + direction.jitter;
  if (direction.reorder > 0) time = time + direction.reorder_by;
  const ByteCount bytes = rate.bytes_in(time) + Serializer(rate, direction.queue).limit();
  return std::max<std::size_t>(bytes.value() / rule.smallest_frame, rule.at_least);
}

}  // namespace satrelay::link
