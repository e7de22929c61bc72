// When the sender's own machine had written packets and not yet handed them to its port: they left
// later than their time of sending says, and so seem to have been longer on their way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::stp {

class LateSendings {
 public:
  // What was written from `began` on left by `ended`. In order of time.
  void add(Instant began, Instant ended) { spans_[count_++ % spans_.size()] = {began, ended}; }
  // How much later than `sent` the packet may have left.
  Duration lateness(Instant sent) const {
    for (const Span& span : spans_) {
      if (sent >= span.began && sent <= span.ended) return span.ended - sent;
    }
    return Duration::zero();
  }

 private:
  struct Span {
    Instant began = Instant::never();
    Instant ended;
  };
  // A machine that stumbles more often keeps nobody's pace.
  std::array<Span, 64> spans_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
