#include "relay/ops/events/event_limit.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace satrelay::ops {

EventLimit::EventLimit(Rate rate) : rate_(rate) {
  for (Kind& kind : kinds_) kind.room = rate.burst;
}

bool EventLimit::take(EventKind kind, const std::string& subject, Instant now) {
  Kind& its = of(kind);
  while (its.room < rate_.burst && now >= its.more_at) {
    ++its.room;
    its.more_at = its.more_at + rate_.interval;
  }
  if (its.room == 0) {
    leave_out(kind, subject, 1, now);
    return false;
  }
  if (its.room == rate_.burst) its.more_at = now + rate_.interval;
  --its.room;
  return true;
}

void EventLimit::leave_out(EventKind kind, const std::string& subject, std::uint64_t count,
                           Instant now) {
  Kind& its = of(kind);
  its.left_out.count += count;
  if (!subject.empty()) its.left_out.last_subject = subject;
  its.say_at = std::min(its.say_at, now + rate_.say_after);
}

bool EventLimit::is_due(EventKind kind, Instant now) const {
  return now >= kinds_[static_cast<std::size_t>(kind)].say_at;
}

std::optional<EventLimit::LeftOut> EventLimit::said(EventKind kind) {
  Kind& its = of(kind);
  if (its.left_out.count == 0) return std::nullopt;
  its.say_at = Instant::never();
  return std::exchange(its.left_out, {});
}

}  // namespace satrelay::ops
