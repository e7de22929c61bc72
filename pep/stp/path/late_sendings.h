// Records the time spans in which this machine had written packets, but had not yet passed them to
// its port. Such packets were sent later than their recorded time of sending, so their delay seems
// too long.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "pep/base/time.h"

namespace satrelay::stp {

class LateSendings {
 public:
  // Packets written from `began` on may have been sent as late as `ended`. Spans must be added in
  // order of time.
  void add(Instant began, Instant ended) { spans_[count_++ % spans_.size()] = {began, ended}; }
  // How much later than its recorded time `sent` a packet may have been sent.
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
  // A machine that stalls more often than this cannot keep a rate anyway.
  std::array<Span, 64> spans_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
