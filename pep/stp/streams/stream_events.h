// Events about streams for the relay. A stream has a flag for each kind of event, so events need no
// memory, and each kind is pending at most once.
#pragma once

#include <optional>

#include "pep/base/work_count.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class StreamEvents {
 public:
  // `work` must outlive this object.
  explicit StreamEvents(WorkCount& work) : work_(work) {}

  void notify(Stream& stream, bool Stream::Pending::*event) {
    if (stream.released) return;
    stream.heat().pending.*event = true;
    events_.push_back(stream);
  }
  bool empty() const { return events_.empty(); }
  // Returns the next event. The events of one stream follow each other. kReset is the last event of
  // its stream.
  std::optional<Event> poll();
  // Drops the pending events of the stream.
  void forget(Stream& stream) {
    events_.remove(stream);
    if (stream.is_hot()) stream.heat().pending = {};
  }

 private:
  WorkCount& work_;
  EventList events_;
};

}  // namespace satrelay::stp
