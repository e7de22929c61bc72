// Records when this machine had written packets but did not yet hand them to its port. Such packets
// left later than their time of sending says, so they seem to have been longer on their way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::stp {

class LateSendings {
 public:
  // Packets written from `began` on left as late as `ended`. Calls come in order of time.
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
  // Enough spans: a machine that stalls more often keeps no rate anyway.
  std::array<Span, 64> spans_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
