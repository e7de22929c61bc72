// Of each kind of event so many at once, and then one an interval. What is left out is counted, and
// to be said some time later.
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
    Duration say_after;  // what was left out, at the latest
  };
  struct LeftOut {
    std::uint64_t count = 0;
    std::string last_subject;  // "": not known
  };
  explicit EventLimit(Rate rate);

  // Whether there is room for one of the kind. If not, it is counted.
  bool take(EventKind kind, const std::string& subject, Instant now);
  // Counts some for which there is no room for another reason.
  void leave_out(EventKind kind, const std::string& subject, std::uint64_t count, Instant now);
  // Whether it is time to say what was left out, though no other one of the kind has come.
  bool is_due(EventKind kind, Instant now) const;
  // What has not been said yet, to be said now; nullopt: nothing.
  std::optional<LeftOut> said(EventKind kind);

 private:
  struct Kind {
    std::uint32_t room = 0;
    Instant more_at;  // when there is room for one more, if there is less than a burst
    LeftOut left_out;
    Instant say_at = Instant::never();
  };
  Kind& of(EventKind kind) { return kinds_[static_cast<std::size_t>(kind)]; }

  Rate rate_;
  std::array<Kind, kEventKinds> kinds_;
};

}  // namespace satrelay::ops
