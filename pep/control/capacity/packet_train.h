// A train of packets that is sent faster than the link is believed to carry. The packets of the
// train arrive later than a single packet would. The additional delay shows how much the link
// carries, within one round trip, even if packets are lost:
//
//   rate = bytes behind the first packet / (time since the first was sent + growth of the delay)
//
// If the queue is full, the delay cannot grow. Then bytes that were lost beyond the usual loss are
// subtracted from the bytes, and the result is the same.
//
// A rest follows a train, so that the mean rate is the same as without the train. Because of the
// rest, the last packet of the train is the newest packet in a report.
#pragma once

#include <cstdint>
#include <optional>

#include "pep/base/time.h"
#include "pep/base/units.h"
#include "pep/control/capacity/packets_before.h"
#include "pep/control/rate_controller.h"

namespace satrelay::control {

class PacketTrain {
 public:
  struct Order {
    BitRate speed;
    ByteCount length;
    BitRate mean;  // mean rate of the train and its rest
    Duration longest_rest = Duration::infinite();
  };
  struct Finding {
    BitRate rate;
    // Whether the train delayed its packets. If not, the link carries at least `rate`.
    bool exact = false;
    bool unusual_loss = false;
    // Whether the delay after the train equals the delay before it: no other sender has filled or
    // emptied the queue meanwhile.
    bool steady = false;
  };
  enum class State : std::uint8_t { kIdle, kReady, kLeaving, kResting, kAwaited };

  void clear() { *this = {}; }
  // The packets that are sent next become a train.
  void order(const Order& order);
  void on_sent(std::uint64_t number, ByteCount accounted, Instant now);
  // Returns the result of the train when no more feedback on it will come; nullopt until then. A
  // rate of zero means that the train has no result. `loss` is the share of packets that the
  // path loses without a queue.
  std::optional<Finding> on_feedback(const FeedbackSample& sample, double loss);

  State state() const { return state_; }
  bool leaves() const { return state_ == State::kReady || state_ == State::kLeaving; }
  BitRate speed() const { return order_.speed; }
  ByteCount length() const { return order_.length; }
  // When the rest ends.
  Instant rests_until() const { return rests_until_; }
  Instant began() const { return began_; }
  // The usual delay of packets just before the train. At least one such packet must be known.
  Duration delay_before() const { return before_.usual_delay(); }

 private:
  void end(std::uint64_t number, Instant now);
  void look_at(const FeedbackSample& sample, double loss);
  // The result of one packet of the train.
  struct Sight {
    double bits = 0;  // bits sent after the first packet, up to and including this packet
    double arrived_share = 1;
    Duration passed;  // from sending the first packet to sending this packet
    Duration delay;
  };
  Finding finding(const Sight& sight, Duration delay_without) const;
  double arrived_share(const FeedbackSample& sample, double loss) const;

  State state_ = State::kIdle;
  Order order_;
  Instant began_;
  Instant last_sent_;
  Instant rests_until_;
  std::uint64_t first_ = 0, last_ = 0;  // numbers of the first and last packet
  // During the rest, the number of the last packet sent. After the rest, the number of the first
  // packet that was sent after it.
  std::uint64_t end_ = 0;
  std::uint64_t newest_ = 0;
  ByteCount sent_;
  ByteCount first_packet_;
  PacketsBefore before_;
  Sight best_;
  Instant give_up_;
};

}  // namespace satrelay::control
