// Drains a gateway before it stops: accepts no new flows, waits until the existing flows have
// ended, and logs its progress.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "pep/base/time.h"
#include "relay/satrelayd/workers/engines.h"

namespace satrelay::satrelayd {

class Drain {
 public:
  using Log = std::function<void(const std::string&)>;

  // `engines` and `log` must outlive the drain.
  Drain(Engines& engines, Log log) : engines_(engines), log_(std::move(log)) {}

  // Resets the flows that are left after `timeout`, as in a stop without a drain. If `timeout` is
  // infinite, waits until all flows have ended.
  void begin(Duration timeout, Instant now);
  bool is_under_way() const { return under_way_; }
  // True if is_over() must be called now.
  bool is_due(Instant now) const { return under_way_ && now >= next_look_; }
  // Counts the flows if that is due. Returns true once the program may stop.
  bool is_over(Instant now);
  // Call this instead of is_over() if a worker hangs, since the flows cannot be counted then.
  // Returns true once the timeout has passed.
  bool is_over_blindly(Instant now);
  Instant next_timeout() const { return under_way_ ? next_look_ : Instant::never(); }

 private:
  Engines& engines_;
  Log log_;
  bool under_way_ = false;
  Instant ends_at_ = Instant::never();
  Instant next_look_;
  Instant next_word_;
  Instant empty_since_ = Instant::never();
};

}  // namespace satrelay::satrelayd
