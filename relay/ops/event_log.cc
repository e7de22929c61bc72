#include "relay/ops/event_log.h"

#include <algorithm>
#include <utility>

namespace satrelay::ops {

void EventLog::tell(Event event) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() < kMostWaiting) {
    waiting_.push_back(std::move(event));
  } else {
    ++overflow_[static_cast<std::size_t>(event.kind)];
  }
}

void EventLog::write(Instant now) {
  std::vector<Event> events;
  std::array<std::uint64_t, kEventKinds> overflow{};
  {
    const std::lock_guard lock(mutex_);
    std::swap(events, waiting_);
    std::swap(overflow, overflow_);
  }
  for (const Event& event : events) write(event, now);
  for (std::size_t i = 0; i < kEventKinds; ++i) {
    Kind& kind = kinds_[i];
    if (overflow[i] > 0) {
      leave_out(kind, kind.last_subject, now);
      kind.left_out += overflow[i] - 1;
    }
    if (now >= kind.say_at) say_left_out(static_cast<EventKind>(i));
  }
}

void EventLog::write(const Event& event, Instant now) {
  Kind& kind = kinds_[static_cast<std::size_t>(event.kind)];
  while (kind.lines < kBurst && now >= kind.more_at) {
    ++kind.lines;
    kind.more_at = kind.more_at + kInterval;
  }
  if (kind.lines == 0) {
    leave_out(kind, event.subject, now);
    return;
  }
  if (kind.lines == kBurst) kind.more_at = now + kInterval;
  --kind.lines;
  if (kind.left_out > 0) say_left_out(event.kind);
  sink_(level_of(describe(event.kind).severity), to_line(event));
}

void EventLog::leave_out(Kind& kind, const std::string& subject, Instant now) {
  ++kind.left_out;
  if (!subject.empty()) kind.last_subject = subject;
  kind.say_at = std::min(kind.say_at, now + kSayLeftOutAfter);
}

void EventLog::say_left_out(EventKind kind_of_all) {
  Kind& kind = kinds_[static_cast<std::size_t>(kind_of_all)];
  const EventDescription& description = describe(kind_of_all);
  std::string line(description.name);
  line.append(": ").append(std::to_string(kind.left_out)).append(" more were not written");
  if (!kind.last_subject.empty()) line.append(", the last of ").append(kind.last_subject);
  sink_(level_of(description.severity), line);
  kind.left_out = 0;
  kind.last_subject.clear();
  kind.say_at = Instant::never();
}

}  // namespace satrelay::ops
