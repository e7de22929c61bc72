// Drains a gateway before it stops: takes no new flows, waits for the flows that it has, and logs
// its progress.
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

  // `timeout`: flows that are left after this time are reset, as at a stop. Infinite: never.
  void begin(Duration timeout, Instant now);
  bool is_under_way() const { return under_way_; }
  // True if it is time to look at the flows.
  bool is_due(Instant now) const { return under_way_ && now >= next_look_; }
  // Looks at the flows if that is due. True once the program may stop.
  bool is_over(Instant now);
  // The same while the flows cannot be looked at: true once the time is up.
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
