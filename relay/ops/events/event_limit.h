// Limits the events of each kind: a burst at once, and then one an interval. Counts the events that
// are left out; the count is reported some time later.
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
    Duration say_after;  // the latest time to report a count
  };
  struct LeftOut {
    std::uint64_t count = 0;
    std::string last_subject;  // "": not known
  };
  explicit EventLimit(Rate rate);

  // True if there is room for one event of the kind. Otherwise counts it as left out.
  bool take(EventKind kind, const std::string& subject, Instant now);
  // Counts events that are left out for another reason.
  void leave_out(EventKind kind, const std::string& subject, std::uint64_t count, Instant now);
  // True if it is time to report a count, though no other event of the kind has come.
  bool is_due(EventKind kind, Instant now) const;
  // Takes the count that is to be reported now. nullopt: no event was left out.
  std::optional<LeftOut> said(EventKind kind);

 private:
  struct Kind {
    std::uint32_t room = 0;
    Instant more_at;  // time of room for one more event, while `room` is less than a burst
    LeftOut left_out;
    Instant say_at = Instant::never();
  };
  Kind& of(EventKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  Rate rate_;
  std::array<Kind, kEventKinds> kinds_;
};

}  // namespace satrelay::ops
