// Visits each of many numbered objects once, a few per call, so that no call takes long. If begin()
// is called during a scan, the scan makes one full round from its current position. So each object
// that existed at the last begin() is visited, however often begin() is called.
#pragma once

#include <algorithm>
#include <cstddef>

namespace satrelay {

class IncrementalScan {
 public:
  // Starts or restarts the scan: each of `objects` objects must be visited once from now on.
  void begin(std::size_t objects) { left_ = count_ = objects; }
  void stop() { left_ = 0; }
  bool active() const { return left_ > 0; }
  // Calls visit(i) for at most `most` objects. `objects` is their current number, which must not be
  // lower than before.
  template <typename Visit>
  void step(std::size_t objects, std::size_t most, Visit&& visit) {
    if (left_ == 0) return;
    // New objects follow the former last object, so the round becomes longer by their number.
    left_ += objects - count_;
    count_ = objects;
    for (std::size_t i = std::min(most, left_); i > 0; --i) {
      if (next_ >= count_) next_ = 0;
      --left_;
      visit(next_++);
    }
  }

 private:
  std::size_t next_ = 0;
  std::size_t left_ = 0;
  std::size_t count_ = 0;
};

}  // namespace satrelay
