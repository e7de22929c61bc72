// What a gateway's own machine has to do with what samples show. One that is not run makes delay
// that looks like a queue on the link, and one whose port overflows makes loss. The word on it is
// the peer's as a rule, so it is taken for a while only: a peer whose machine is never in time is
// the bottleneck itself, and one that lies gets no more than it would by lying about arrivals.
#pragma once

#include <algorithm>

#include "pep/base/time.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

// How late a sample's newest packet may be by a machine's doing.
class PunctualSamples {
 public:
  // Small beside any queue that is looked for.
  static constexpr Duration kAllowed = Duration::milliseconds(4);
  // If all samples are later, it is believed for so long.
  static constexpr Duration kPatience = Duration::seconds(5);

  Duration believed_lateness(const FeedbackSample& sample) {
    late_since_ = sample.lateness > kAllowed ? earlier(late_since_, sample.now) : Instant::never();
    return sample.now < late_since_ + kPatience ? sample.lateness : Duration::zero();
  }

 private:
  Instant late_since_ = Instant::never();
};

// Whether a cut was the doing of a machine that knows only afterwards what it has missed.
class CutExcuse {
 public:
  // What is told so much later, by the receiver's clock, is no news of what the cut was made for.
  static constexpr Duration kNews = Duration::seconds(1);
  // A port that makes delay overflows by more than this part of what it takes.
  static constexpr std::uint64_t kPart = 64;
  // So many cuts in a row are taken back, and again when there was none for so long.
  static constexpr int kMost = 4;
  static constexpr Duration kRest = Duration::seconds(10);

  // For what was seen until `arrived`, by the receiver's clock.
  void on_cut(Instant arrived, Instant now) {
    if (now >= last_ + kRest) left_ = kMost;
    last_ = now;
    until_ = arrived + kNews;
    open_ = left_ > 0;
  }
  // True once for a cut.
  bool holds(const FeedbackSample& sample) {
    open_ = open_ && sample.arrived <= until_;
    if (!open_ || sample.packets_lost_at_receiver * kPart <= sample.packets_delivered) return false;
    open_ = false;
    --left_;
    return true;
  }

 private:
  bool open_ = false;
  int left_ = kMost;
  Instant until_;
  Instant last_;
};

}  // namespace satrelay::control
