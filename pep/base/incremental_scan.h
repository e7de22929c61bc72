// Visits numbered objects once each, some at a time. Work on very many objects is begun at once and
// done over many calls. If it is begun again meanwhile, the scan goes once round from where it is.
// So no object is left out, however often the scan is begun again.
#pragma once

#include <algorithm>
#include <cstddef>

namespace satrelay {

class IncrementalScan {
 public:
  // From now on, each of `objects` must be visited once.
  void begin(std::size_t objects) { left_ = count_ = objects; }
  void stop() { left_ = 0; }
  bool active() const { return left_ > 0; }
  // Calls visit(i) for at most `most` objects. `objects`: their current number, never less than
  // before.
  template <typename Visit>
  void step(std::size_t objects, std::size_t most, Visit&& visit) {
    if (left_ == 0) return;
    // New objects have a place between the last object and the first one.
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
