// Records the time spans in which this machine stalled after it had written packets. These packets
// were sent later than their recorded sending time, so their measured delay is too long.
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
  // Returns by how much the true sending time of a packet may be later than its recorded time
  // `sent`.
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
  // Maximum number of remembered spans. A machine that stalls more often cannot keep a rate anyway.
  std::array<Span, 64> spans_{};
  std::size_t count_ = 0;
};

}  // namespace satrelay::stp
