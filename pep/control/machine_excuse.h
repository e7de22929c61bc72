// Recognizes delay and loss that the machine of a gateway causes, and not the link, so that they do
// not reduce the rate for long. A machine that runs late adds delay that looks like a queue on the
// link. A machine with a port that overflows adds loss. Usually only the peer knows that its
// machine is the cause, so the controller believes the peer, but only for a limited time: a machine
// that is always late is itself the bottleneck. A peer that lies about its machine gains no more
// than a peer that lies about arrivals.
#pragma once

#include <algorithm>

#include "pep/base/time.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

// Limits the time for which the controller believes the lateness that machines report.
class PunctualSamples {
 public:
  // Samples with at most this lateness count as punctual. The lateness is small compared with any
  // queue that a controller looks for.
  static constexpr Duration kAllowed = Duration::milliseconds(4);
  // If all samples are later than kAllowed, their lateness is believed for this long.
  static constexpr Duration kPatience = Duration::seconds(5);

  Duration believed_lateness(const FeedbackSample& sample) {
    late_since_ = sample.lateness > kAllowed ? earlier(late_since_, sample.now) : Instant::never();
    return sample.now < late_since_ + kPatience ? sample.lateness : Duration::zero();
  }

 private:
  Instant late_since_ = Instant::never();
};

// Tells whether a machine caused a cut of the rate. The decision uses samples after the cut,
// because a machine learns only later how many packets its port has lost.
class CutExcuse {
 public:
  // A sample excuses a cut only if its packet arrived within this time after the packets that
  // caused the cut, by the receiver's clock.
  static constexpr Duration kNews = Duration::seconds(1);
  // The port counts as the cause of a cut only if it lost more than 1 / kPart of the packets that
  // it delivered.
  static constexpr std::uint64_t kPart = 64;
  // At most this many cuts in a row are excused. After kRest without a cut, the count begins again.
  static constexpr int kMost = 4;
  static constexpr Duration kRest = Duration::seconds(10);

  // Call when the rate was cut. The newest packet that led to the cut arrived at `arrived`, by the
  // receiver's clock.
  void on_cut(Instant arrived, Instant now) {
    if (now >= last_ + kRest) left_ = kMost;
    last_ = now;
    until_ = arrived + kNews;
    open_ = left_ > 0;
  }
  // Whether the sample shows that a machine caused the last cut. Returns true at most once for each
  // cut.
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
