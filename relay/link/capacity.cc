#include "relay/link/capacity.h"

#include <algorithm>

#include "relay/link/serializer.h"

namespace satrelay::link {

std::size_t frames_in_flight(const config::LinkDirection& direction, const CapacityRule& rule) {
  if (direction.rate.is_zero()) return rule.if_unlimited;
  Duration time = direction.delay + direction.jitter;
  if (direction.reorder > 0) time = time + direction.reorder_by;
  const ByteCount bytes =
      direction.rate.bytes_in(time) + Serializer(direction.rate, direction.queue).limit();
  return std::max<std::size_t>(bytes.value() / rule.smallest_frame, rule.at_least);
}

}  // namespace satrelay::link
