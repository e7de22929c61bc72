// Bursts that test whether a link carries more than it was found to. Some packets leave faster,
// then a rest follows, so that the mean is what the link is known to carry. A burst hardly ever
// shows more than there is:
//
//   rate = bytes behind its first packet / (arrival of its last - sending of its first - delay)
//
// The delay is the least delay of packets seen before and behind the burst. So jitter, other
// senders in the queue, and hosts with too little to send make a burst show less. It shows nothing
// if more than usual was lost, since a full queue adds no delay.
//
// A verdict takes a round trip. Several bursts may be in flight.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class RoomProbes {
 public:
  struct Order {
    ByteCount length;
    BitRate mean;    // including the rest
    Duration gap;    // a burst ends if the hosts had no more for this long
    Duration delay;  // the least lately; clocks of two machines are involved
  };

  void clear() { *this = {}; }
  // The next packets are a burst.
  void order(const Order& order);
  // `number`: of the packet, counted as in samples.
  void on_sent(std::uint64_t number, ByteCount accounted, Instant now);
  bool leaves() const { return state_ == State::kReady || state_ == State::kLeaving; }
  bool is_idle(Instant now) const {
    return state_ == State::kIdle || (state_ == State::kResting && now >= rests_until_);
  }
  Instant rests_until() const { return rests_until_; }
  // True once for each burst that has left: the report on it should come soon.
  bool take_question();
  // The highest rate that a burst has shown, of the bursts that end with this sample. `loss`: share
  // of packets lost where there is no queue.
  std::optional<BitRate> on_feedback(const FeedbackSample& sample, double loss);

 private:
  enum class State : std::uint8_t { kIdle, kReady, kLeaving, kResting };
  struct Burst {
    std::uint64_t first = 0, last = 0;  // packets
    Instant began;
    Instant rests_until = Instant::never();  // never(): not yet known
    ByteCount behind_first;
    Duration delay;                       // without the burst
    std::optional<Duration> passed = {};  // from its first to the arrival of its last
    std::uint64_t packets = 0, lost = 0;  // reported since its first packet
  };
  // A round trip of 1.2 s has four bursts in flight.
  static constexpr std::size_t kBursts = 8;

  void end();
  void look_at(Burst& burst, const FeedbackSample& sample) const;
  std::optional<BitRate> verdict(const Burst& burst, double loss) const;

  State state_ = State::kIdle;
  bool asks_ = false;
  Order order_;
  ByteCount sent_;
  Instant last_sent_;
  Instant rests_until_;
  std::array<Burst, kBursts> bursts_{};
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace satrelay::control
