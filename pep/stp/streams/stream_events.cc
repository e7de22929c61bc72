#include "pep/stp/streams/stream_events.h"

#include <utility>

namespace satrelay::stp {

std::optional<Event> StreamEvents::poll() {
  while (!events_.empty()) {
    Stream& stream = *events_.front();
    work_.add();
    Event event;
    event.stream = StreamId{stream.id};
    event.context = stream.context;
    Stream::Pending& pending = stream.heat().pending;
    const auto take = [](bool& flag) { return std::exchange(flag, false); };
    if (take(pending.opened)) {
      event.kind = Event::Kind::kOpened;
    } else if (take(pending.readable)) {
      event.kind = Event::Kind::kReadable;
    } else if (take(pending.writable)) {
      event.kind = Event::Kind::kWritable;
    } else if (take(pending.confirmed)) {
      event.kind = Event::Kind::kConfirmed;
    } else if (take(pending.delivered)) {
      event.kind = Event::Kind::kDelivered;
    } else if (take(pending.reset)) {
      event.kind = Event::Kind::kReset;
      event.reason = stream.hot().event_reason;
      event.icmp = stream.hot().icmp;
      events_.remove(stream);
      return event;
    } else {
      events_.remove(stream);
      continue;
    }
    if (!pending.any()) events_.remove(stream);
    return event;
  }
  return std::nullopt;
}

}  // namespace satrelay::stp
