// When a gateway looks for faults by itself.
#pragma once

#include <algorithm>

#include "pep/base/time.h"

namespace satrelay::ctl::doctor {

class RunTimes {
 public:
  // Peers need some seconds to greet each other.
  static constexpr Duration kFirst = Duration::seconds(8);
  // After the start and after a change, a second run confirms what the first one has seen. No two
  // runs begin within this time.
  static constexpr Duration kConfirm = Duration::seconds(12);
  static constexpr Duration kInterval = Duration::seconds(300);
  // A change may have others at its heels.
  static constexpr Duration kSettle = Duration::seconds(1);
  // After a run that could not read the facts.
  static constexpr Duration kRetry = Duration::seconds(30);

  explicit RunTimes(Instant start) : due_(start + kFirst) {}

  bool is_due(Instant now) const { return now >= due_; }
  // A run begins now.
  void begin(Instant now) {
    began_ = now;
    has_begun_ = true;
    due_ = now + (wants_second_ ? kConfirm : kInterval);
    wants_second_ = false;
  }
  // The state of a peer or a port, or the configuration has changed.
  void note_change(Instant now) {
    if (!has_begun_) return;
    due_ = std::min(due_, std::max(now + kSettle, began_ + kConfirm));
    wants_second_ = true;
  }
  void note_failure(Instant now) { due_ = std::min(due_, now + kRetry); }

 private:
  Instant due_;
  Instant began_;
  bool has_begun_ = false;
  bool wants_second_ = true;
};

}  // namespace satrelay::ctl::doctor
