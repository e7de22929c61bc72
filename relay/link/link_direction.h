// A pure model of one direction of a satellite link: rate, queue, delay and faults, over opaque
// frame handles. relay/satlink runs it on mbufs in real time, relay/sim in virtual time.
//
//   enqueue -> [queue] -> serialise at `rate` -> outage/loss/corruption -> delay (+jitter) -> out
//
// If the rate has steps or the queue drops by priority, the model stores the frames that wait
// (FrameQueue). It may then drop frames that it has accepted, and take_released() returns them.
// Otherwise the model stores only the instant until which the transmitter is busy.
//
// All memory is taken at construction. Each fault draws from a random sequence of its own, so a
// change of one fault does not change which frames the other faults hit. The same seed and the same
// calls give the same run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/random.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/link/delay_line.h"
#include "relay/link/direction_counters.h"
#include "relay/link/frame_queue.h"
#include "relay/link/loss_model.h"
#include "relay/link/schedule.h"
#include "relay/link/serializer.h"

namespace satrelay::link {

class LinkDirection {
 public:
  // `capacity`: maximum number of frames in the queue and in flight. The constructor allocates
  // memory for all of them.
  LinkDirection(const config::LinkDirection& config, std::uint32_t overhead, std::uint64_t seed,
                std::size_t capacity);

  enum class Fate : std::uint8_t {
    kAccepted,    // poll() or take_released() returns the handle later
    kDropped,     // the caller keeps the handle
    kDuplicated,  // the handle is returned twice later; the caller must make the frame shareable
  };
  // Offers a frame of `frame_bytes`, with the Ethernet header and without the FCS. A lost frame
  // still occupies the link. `now` must never go backwards from one call of enqueue() or poll() to
  // the next. `priority` counts only if the queue drops by priority: 0 is kept longest, 3 is
  // dropped first.
  Fate enqueue(FrameHandle frame, std::size_t frame_bytes, Instant now, std::uint8_t priority = 0);

  struct Delivery {
    FrameHandle frame = 0;
    // Bit to flip before delivery, counted from the first bit of the frame.
    std::optional<std::uint64_t> corrupt_bit;
  };
  // Returns the next frame that is due at `now` or earlier, in order of delivery time.
  std::optional<Delivery> poll(Instant now);
  // When to call poll() next. It may not return a frame then. never() if nothing is in flight.
  Instant next_delivery() const;
  // The time of the next rate step; never() if there is none. poll() must be called then, so that
  // rate() is right, even if nothing is in flight.
  Instant next_rate_step() const { return rate_steps_.next(); }
  // Returns the handle of a frame that was accepted, and then dropped or lost. Call this after
  // enqueue() and poll(), until it returns nullopt.
  std::optional<FrameHandle> take_released();

  // Sets the rate; zero means unlimited. Frames that the transmitter has already accepted keep the
  // old rate.
  void set_rate(BitRate rate);
  void set_mtu(std::uint16_t mtu) { config_.mtu = mtu; }  // IP bytes; zero means no limit
  // `loss`: the probability per frame, 0 to 1. Replaces a Gilbert-Elliott model and a trace.
  void set_loss(double loss);
  // During an outage all frames that are sent are lost. They still occupy the link, since a modem
  // also sends during a fade. Frames that are already in flight still arrive.
  void set_outage(bool outage) { outage_ = outage; }

  DirectionCounters counters() const;
  // Accounted bytes that wait to be sent, and the time until the last of them is sent.
  ByteCount queue(Instant now) const;
  Duration queue_delay(Instant now) const;
  // The longest time that a frame has spent in the queue and the transmitter, among the frames sent
  // since the last call.
  Duration take_queue_peak() { return std::exchange(queue_peak_, Duration::zero()); }
  std::size_t frames_in_flight() const { return line_.size() + (waiting_ ? waiting_->size() : 0); }
  BitRate rate() const { return serializer_.rate(); }
  bool outage() const { return outage_; }
  // Whether enqueue() uses the priority.
  bool knows_priorities() const { return config_.discipline == config::QueueDiscipline::kPriority; }

 private:
  enum class Sent : std::uint8_t { kOnItsWay, kTwice, kLost };

  bool is_full(std::size_t more) const;
  bool make_room(std::uint32_t accounted, std::uint8_t priority, Instant now);
  void count_queue_drop(std::uint8_t priority);
  void release(const WaitingFrame& frame);
  Fate enqueue_waiting(WaitingFrame frame, Instant now);
  // Performs the rate steps until `now`, and sends the frames that the transmitter can send until
  // `now`.
  void advance(Instant now);
  Sent launch(FrameHandle frame, std::size_t frame_bytes, Instant departure, bool twice);
  void push(InFlight entry, Instant due);
  Instant due(Instant departure);

  config::LinkDirection config_;
  std::uint32_t overhead_;
  Serializer serializer_;
  LossModel loss_;
  DelayLine line_;
  std::optional<FrameQueue> waiting_;
  std::vector<FrameHandle> released_;
  RateSchedule rate_steps_;
  DelaySchedule delay_;
  LossSchedule loss_steps_;
  OutageSchedule outages_;
  Random jitter_random_;
  Random reorder_random_;
  Random duplicate_random_;
  Random corrupt_random_;
  bool outage_ = false;
  std::size_t capacity_;
  // The latest due time of the frames that were added in order.
  Instant last_due_;
  // The next frame must not be due earlier than this, since it would overtake other frames.
  Instant order_from_;
  Instant last_seen_;
  Duration queue_peak_;
  DirectionCounters counters_;
};

}  // namespace satrelay::link
