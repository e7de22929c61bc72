#include "relay/link/capacity.h"

#include <algorithm>

#include "relay/link/serializer.h"

namespace satrelay::link {

bool frames_wait(const config::LinkDirection& direction) {
  return !direction.rate_steps.empty() ||
         direction.discipline == config::QueueDiscipline::kPriority;
}

Peak peak_of(const config::LinkDirection& direction) {
  Peak peak{.rate = direction.rate, .unlimited = direction.rate.is_zero(), .time = direction.delay};
  for (const config::RateStep& step : direction.rate_steps) {
    peak.rate = std::max(peak.rate, step.rate);
    peak.unlimited = peak.unlimited || step.rate.is_zero();
  }
  for (const config::DelayStep& step : direction.delay_steps) {
    peak.time = std::max(peak.time, step.delay);
  }
  peak.time = peak.time + direction.jitter;
  if (direction.reorder > 0) peak.time = peak.time + direction.reorder_by;
  return peak;
}

std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule) {
  const Peak peak = peak_of(direction);
  if (peak.unlimited) return rule.if_unlimited;
  const ByteCount bytes =
      peak.rate.bytes_in(peak.time) + Serializer(peak.rate, direction.queue).limit();
  return std::max<std::size_t>(bytes.value() / rule.smallest_frame, rule.at_least);
}

}  // namespace satrelay::link
