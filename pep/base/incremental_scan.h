// Once round numbered objects, some at a time. What has to be done to each of very many is begun at
// once and done over many calls; begun again meanwhile, it goes once round from where it is, so
// that nobody who begins it again and again keeps it from any.
#pragma once

#include <algorithm>
#include <cstddef>

namespace satrelay {

class IncrementalScan {
 public:
  // Each of `objects` is to be visited from now on.
  void begin(std::size_t objects) { left_ = count_ = objects; }
  void stop() { left_ = 0; }
  bool active() const { return left_ > 0; }
  // Calls visit(i) for at most `most` of them; there are `objects` by now, never fewer than before.
  template <typename Visit>
  void step(std::size_t objects, std::size_t most, Visit&& visit) {
    if (left_ == 0) return;
    // Those that are new stand between the last and the first.
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
