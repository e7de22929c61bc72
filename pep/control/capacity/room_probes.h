// Bursts that test whether a link carries more than the capacity that was found. Some packets are
// sent faster, and then a rest follows, so that the mean rate is the known capacity. A burst hardly
// ever shows more than the link carries:
//
//   rate = bytes behind its first packet / (arrival of its last - sending of its first - delay)
//
// The delay is the least delay of packets before and after the burst. So jitter, other senders in
// the queue, and hosts with too little to send make a burst show less. A burst has no result if
// more than usual was lost: then the queue was full, and a full queue drops packets instead of
// delaying them longer.
//
// A result takes a round trip, so several bursts may be in flight.
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
    BitRate mean;    // mean rate of the burst and its rest
    Duration gap;    // a burst ends if the hosts sent nothing for this long
    Duration delay;  // smallest one-way delay of recent packets, by two clocks
  };

  void clear() { *this = {}; }
  // The packets that are sent next become a burst.
  void order(const Order& order);
  // `number` is the number of the packet, as in FeedbackSample.
  void on_sent(std::uint64_t number, ByteCount accounted, Instant now);
  bool leaves() const { return state_ == State::kReady || state_ == State::kLeaving; }
  bool is_idle(Instant now) const {
    return state_ == State::kIdle || (state_ == State::kResting && now >= rests_until_);
  }
  Instant rests_until() const { return rests_until_; }
  // Returns true once for each burst that was sent, to ask the receiver for an early report on it.
  bool take_question();
  // Some bursts may have complete feedback with this sample. Returns the highest rate that one of
  // them has shown; nullopt if there is no such rate. `loss` is the share of packets that the path
  // loses without a queue.
  std::optional<BitRate> on_feedback(const FeedbackSample& sample, double loss);

 private:
  enum class State : std::uint8_t { kIdle, kReady, kLeaving, kResting };
  struct Burst {
    std::uint64_t first = 0, last = 0;  // numbers of the first and last packet
    Instant began;
    Instant rests_until = Instant::never();  // never() until the last packet was sent
    ByteCount behind_first;
    Duration delay;                       // one-way delay without the burst
    std::optional<Duration> passed = {};  // from sending the first packet to arrival of the last
    std::uint64_t packets = 0, lost = 0;  // reported since the first packet
  };
  // Maximum number of bursts in flight. With a round trip of 1.2 s, four bursts are in flight.
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
