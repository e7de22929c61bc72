// Tests whether the link carries more while the guard holds a found capacity. It orders bursts, and
// computes by how much their results raise the rate. A link may carry a burst, but not a steady
// stream of the same rate. So a rise that was too large makes the next rises smaller and rarer.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/delay_trend.h"
#include "pep/control/capacity/room_probes.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class RoomSearch {
 public:
  struct Pace {
    Duration patience;       // time between bursts
    std::uint64_t step = 0;  // largest rise by one result, in percent
  };
  struct Rates {
    BitRate found;
    BitRate most;       // rate of a burst
    BitRate announced;  // upper limit of the found rate
  };

  void on_start(ByteCount packet) { packet_ = packet; }
  void on_sent(std::uint64_t number, ByteCount accounted, Instant now) {
    probes_.on_sent(number, accounted, now);
  }
  // Forgets the bursts in flight.
  void clear() { probes_.clear(); }
  // Call when the rate is cut. `trusted` tells whether the announced capacity was in use until
  // then.
  void on_cut(bool trusted, Duration rtt, Instant now);
  // Call when the guard begins to hold a rate. The first burst waits for at least a round trip,
  // because samples until then are of packets that have waited in the old queue.
  void begin(Duration rtt, Instant now);
  // Returns a higher rate that the guard should hold from now on; nullopt if no burst has shown a
  // higher rate.
  std::optional<BitRate> on_feedback(const FeedbackSample& sample, const Rates& rates, double loss);
  // Orders a burst if it is time, and if `delays` contains the delay without a queue.
  void probe(const Rates& rates, const DelayTrend& delays, Instant now);

  const Pace& pace() const { return pace_; }
  void set_pace(const Pace& pace) { pace_ = pace; }
  RoomProbes& probes() { return probes_; }
  const RoomProbes& probes() const { return probes_; }

 private:
  RoomProbes probes_;
  ByteCount packet_ = ByteCount(1538);
  Instant next_probe_;
  Pace pace_;
  Instant raised_ = Instant::never();
};

}  // namespace satrelay::control
