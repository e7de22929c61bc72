// One direction of a satellite link as a pure model: rate, queue, delay and faults, over opaque
// frame handles. relay/satlink runs it on mbufs in real time, tests/sim in virtual time.
//
//   enqueue -> [tail-drop queue] -> serialise at `rate` -> loss/corruption -> delay (+jitter) ->
//   out
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/schema.h"
#include "pep/base/random.h"
#include "pep/base/time.h"
#include "pep/base/units.h"

namespace satrelay::link {

using FrameHandle = std::uint64_t;

struct DirectionCounters {
  std::uint64_t frames_in = 0, bytes_in = 0;    // offered (frame bytes, no FCS)
  std::uint64_t frames_out = 0, bytes_out = 0;  // delivered
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
  // frame still occupies the link.
  Fate enqueue(FrameHandle frame, std::size_t frame_bytes, Instant now);

  struct Delivery {
    FrameHandle frame = 0;
    // Bit to flip before delivery, counted from the first bit of the frame.
    std::optional<std::uint64_t> corrupt_bit;
  };
  // The next frame due at `now`, in order of delivery time.
  std::optional<Delivery> poll(Instant now);
  Instant next_delivery() const;  // never() if nothing is in flight

  void set_rate(BitRate rate);  // for frames offered from now on
  void set_loss(double loss);
  void set_outage(bool outage);  // true: everything that would enter the link is lost

  const DirectionCounters& counters() const { return counters_; }

 private:
  struct InFlight {
    Instant due;
    std::uint64_t order;
    FrameHandle frame;
    std::uint64_t corrupt_bit;
  };
  config::LinkDirection config_;
  std::uint32_t overhead_;
  Random random_;
  std::size_t capacity_;
  std::vector<InFlight> heap_;
  DirectionCounters counters_;
};

}  // namespace satrelay::link
