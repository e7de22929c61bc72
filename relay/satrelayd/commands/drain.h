// A gateway on its way to a stop: takes no new flows, waits for those that it has, and says how far
// it is.
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

  // Both must outlive the drain.
  Drain(Engines& engines, Log log) : engines_(engines), log_(std::move(log)) {}

  // `timeout`: after which flows that are left are reset, as at a stop; infinite: never.
  void begin(Duration timeout, Instant now);
  bool is_under_way() const { return under_way_; }
  // Whether it is time to look.
  bool is_due(Instant now) const { return under_way_ && now >= next_look_; }
  // Looks, if that is due; true once the program may stop.
  bool is_over(Instant now);
  // The same while nobody can look at the flows: once the time is up.
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
