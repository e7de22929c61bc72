// One direction of a satellite link as a pure model: rate, queue, delay and faults, over opaque
// frame handles. relay/satlink runs it on mbufs in real time, tests/sim in virtual time.
//
//   enqueue -> [tail-drop queue] -> serialise at `rate` -> loss/corruption -> delay (+jitter) ->
//   out
//
// All memory is taken at construction. Each fault draws from a random sequence of its own, so that
// changing one leaves the others as they were; the same seed and the same calls give the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "config/schema.h"
#include "pep/base/random.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/link/delay_line.h"
#include "relay/link/loss_model.h"
#include "relay/link/serializer.h"

namespace satrelay::link {

struct DirectionCounters {
  std::uint64_t frames_in = 0, bytes_in = 0;    // offered (frame bytes, no FCS)
  std::uint64_t frames_out = 0, bytes_out = 0;  // delivered
  std::uint64_t bytes_carried = 0;              // accounted: sent over the link, lost ones too
  std::uint64_t dropped_queue = 0;
  std::uint64_t dropped_loss = 0;
  std::uint64_t dropped_outage = 0;
  std::uint64_t dropped_memory = 0;  // more frames in flight than `capacity`
  std::uint64_t corrupted = 0, duplicated = 0, reordered = 0;
  std::uint64_t queue_bytes = 0;  // gauge: accounted bytes waiting to be serialised
};

class LinkDirection {
 public:
  // `capacity`: most frames in flight (queue and delay line), preallocated.
  LinkDirection(const config::LinkDirection& config, std::uint32_t overhead, std::uint64_t seed,
                std::size_t capacity);

  enum class Fate : std::uint8_t {
    kAccepted,    // the handle comes out of poll() once
    kDropped,     // the caller keeps the handle
    kDuplicated,  // the handle comes out of poll() twice: the caller makes it shareable
  };
  // Offers a frame of `frame_bytes` (header included, no FCS). Loss is decided here, but a lost
  // frame still occupies the link. `now` never goes backwards, here and in poll().
  Fate enqueue(FrameHandle frame, std::size_t frame_bytes, Instant now);

  struct Delivery {
    FrameHandle frame = 0;
    // Bit to flip before delivery, counted from the first bit of the frame.
    std::optional<std::uint64_t> corrupt_bit;
  };
  // The next frame due at `now`, in order of delivery time.
  std::optional<Delivery> poll(Instant now);
  Instant next_delivery() const { return line_.next_due(); }  // never() if nothing is in flight

  void set_rate(BitRate rate);  // for frames offered from now on; zero: unlimited
  void set_loss(double loss);   // 0 to 1, per frame; replaces a Gilbert-Elliott model
  // true: everything that is offered to the link is lost, after it has occupied it: a modem sends
  // into the fade all the same. What is on its way arrives.
  void set_outage(bool outage) { outage_ = outage; }

  DirectionCounters counters() const;
  // Accounted bytes that wait to be sent, and how long the last of them waits.
  ByteCount queue(Instant now) const { return serializer_.backlog(now); }
  Duration queue_delay(Instant now) const { return serializer_.wait(now); }
  // The longest wait of any frame accepted since the last call, its own transmission included.
  Duration take_queue_peak() { return std::exchange(queue_peak_, Duration::zero()); }
  std::size_t frames_in_flight() const { return line_.size(); }
  BitRate rate() const { return serializer_.rate(); }
  bool outage() const { return outage_; }

 private:
  Instant due(Instant departure);

  config::LinkDirection config_;
  std::uint32_t overhead_;
  Serializer serializer_;
  LossModel loss_;
  DelayLine line_;
  Random jitter_random_;
  Random reorder_random_;
  Random duplicate_random_;
  Random corrupt_random_;
  bool outage_ = false;
  Instant last_due_;  // of the frames that keep their order
  Instant last_seen_;
  Duration queue_peak_;
  DirectionCounters counters_;
};

}  // namespace satrelay::link
