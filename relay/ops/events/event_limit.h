// Limits the events of each kind. A kind may have a burst of events at once, and then one event per
// interval. The class counts the events that are left out, and the caller reports that count later.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "pep/base/time.h"
#include "relay/ops/events/event.h"

namespace satrelay::ops {

class EventLimit {
 public:
  struct Rate {
    std::uint32_t burst = 0;
    Duration interval;
    // Maximum time from the first event that was left out to the report of the count.
    Duration say_after;
  };
  struct LeftOut {
    std::uint64_t count = 0;
    std::string last_subject;  // subject of the last event that was left out; "" if not known
  };
  explicit EventLimit(Rate rate);

  // Returns true if the event may be reported. Otherwise counts it as left out.
  bool take(EventKind kind, const std::string& subject, Instant now);
  // Counts events that are left out for another reason.
  void leave_out(EventKind kind, const std::string& subject, std::uint64_t count, Instant now);
  // True if the count of left-out events must be reported now, even if no further event occurs.
  bool is_due(EventKind kind, Instant now) const;
  // Returns the count of left-out events and sets it to zero; the caller reports it now. Returns
  // nullopt if no event was left out.
  std::optional<LeftOut> said(EventKind kind);

 private:
  struct Kind {
    std::uint32_t room = 0;
    Instant more_at;  // time at which `room` grows by one event, if it is less than a burst
    LeftOut left_out;
    Instant say_at = Instant::never();
  };
  Kind& of(EventKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  Rate rate_;
  std::array<Kind, kEventKinds> kinds_;
};

}  // namespace satrelay::ops
