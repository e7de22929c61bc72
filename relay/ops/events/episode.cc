#include "relay/ops/events/episode.h"

namespace satrelay::ops {

Episode::Change Episode::look(std::uint64_t value, Instant now) {
  const bool grew = value > value_;
  const Duration still = now - grew_at_;
  if (!grew) {
    if (has_begun_ && still >= bounds_.over_after) {
      has_begun_ = is_growing_ = false;
      return Change::kOver;
    }
    if (!has_begun_ && still > bounds_.pause) is_growing_ = false;
    return Change::kNone;
  }
  if (!is_growing_ || (!has_begun_ && still > bounds_.pause)) {
    value_before_ = value_;
    began_ = now;
    is_growing_ = true;
  }
  value_ = value;
  grew_at_ = now;
  if (has_begun_ || now - began_ < bounds_.begins_after) return Change::kNone;
  has_begun_ = true;
  return Change::kBegun;
}

}  // namespace satrelay::ops
