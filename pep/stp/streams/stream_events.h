// Events about streams, for the relay. They wait in the streams themselves. So there is a place for
// each, and a stream has each kind once.
#pragma once

#include <optional>

#include "pep/base/work_count.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

class StreamEvents {
 public:
  // `work` outlives this object.
  explicit StreamEvents(WorkCount& work) : work_(work) {}

  void notify(Stream& stream, bool Stream::Pending::*event) {
    if (stream.released) return;
    stream.heat().pending.*event = true;
    events_.push_back(stream);
  }
  bool empty() const { return events_.empty(); }
  // The events of one stream come one after the other. kReset is the last event of its stream.
  std::optional<Event> poll();
  // The relay gets none of the events that wait.
  void forget(Stream& stream) {
    events_.remove(stream);
    if (stream.is_hot()) stream.heat().pending = {};
  }

 private:
  WorkCount& work_;
  EventList events_;
};

}  // namespace satrelay::stp
