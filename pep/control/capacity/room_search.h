// Looks for room while the guard holds a found capacity: orders bursts, and says how far their
// results raise the rate. A burst may pass where a stream of packets does not. So a rise that was
// too large makes the next ones smaller and rarer.
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
    Duration patience;       // between bursts
    std::uint64_t step = 0;  // per cent by which the rate grows at once at most
  };
  struct Rates {
    BitRate found;
    BitRate most;       // at which a burst leaves
    BitRate announced;  // the limit of a rise
  };

  void on_start(ByteCount packet) { packet_ = packet; }
  void on_sent(std::uint64_t number, ByteCount accounted, Instant now) {
    probes_.on_sent(number, accounted, now);
  }
  // Forgets bursts.
  void clear() { probes_.clear(); }
  // The rate is cut. `trusted`: the announced capacity was sent until then.
  void on_cut(bool trusted, Duration rtt, Instant now);
  // The rate is held from now on. The first burst waits for a round trip: only then is the delay
  // that of packets behind the queue.
  void begin(Duration rtt, Instant now);
  // The rate to hold instead of the found one; nullopt: bursts have shown no room.
  std::optional<BitRate> on_feedback(const FeedbackSample& sample, const Rates& rates, double loss);
  // Orders a burst if it is time, and `delays` show the delay without a queue.
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
