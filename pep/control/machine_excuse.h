// Excuses delay and loss that a gateway's own machine causes. A machine that does not run in time
// makes delay that looks like a queue on the link. A machine with a port that overflows makes loss.
// Usually only the peer can know this, so its word is believed for a limited time. If the peer's
// machine is never in time, it is the bottleneck itself. A peer that lies gains no more than by
// lying about arrivals.
#pragma once

#include <algorithm>

#include "pep/base/time.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

// How late a machine may have made a sample's newest packet.
class PunctualSamples {
 public:
  // Small compared with any queue that a controller looks for.
  static constexpr Duration kAllowed = Duration::milliseconds(4);
  // If all samples are later than that, their lateness is believed for this long.
  static constexpr Duration kPatience = Duration::seconds(5);

  Duration believed_lateness(const FeedbackSample& sample) {
    late_since_ = sample.lateness > kAllowed ? earlier(late_since_, sample.now) : Instant::never();
    return sample.now < late_since_ + kPatience ? sample.lateness : Duration::zero();
  }

 private:
  Instant late_since_ = Instant::never();
};

// Whether a machine caused a cut, though it knows only afterwards what it has missed.
class CutExcuse {
 public:
  // A report that comes later than this, by the receiver's clock, does not explain the cut.
  static constexpr Duration kNews = Duration::seconds(1);
  // A port that makes delay loses more than 1 / kPart of what it delivers.
  static constexpr std::uint64_t kPart = 64;
  // Most cuts in a row that are taken back. After kRest without a cut, as many again.
  static constexpr int kMost = 4;
  static constexpr Duration kRest = Duration::seconds(10);

  // A cut was made, for what was seen until `arrived`, by the receiver's clock.
  void on_cut(Instant arrived, Instant now) {
    if (now >= last_ + kRest) left_ = kMost;
    last_ = now;
    until_ = arrived + kNews;
    open_ = left_ > 0;
  }
  // Whether the sample excuses the last cut. True once for a cut.
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
