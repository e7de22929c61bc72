// Whether whoever greets us in the peer's place seems to have another secret: its HELLOs come, and
// none of them can be opened. A forger can feign it, so it is a question and changes nothing.
#pragma once

#include <cstdint>

#include "pep/base/time.h"

namespace satrelay::stp {

class KeyMismatchTimer {
 public:
  // One may be damaged, or left over from another start.
  static constexpr std::uint32_t kLeast = 3;
  // A peer that is not answered greets once a second.
  static constexpr Duration kFades = Duration::seconds(30);

  void on_unopened(Instant now) {
    if (now > last_ + kFades) count_ = 0;
    ++count_;
    last_ = now;
  }
  void on_heard() { count_ = 0; }
  bool holds(Instant now) const { return count_ >= kLeast && now <= last_ + kFades; }

 private:
  std::uint32_t count_ = 0;
  Instant last_;
};

}  // namespace satrelay::stp
