// The receiving side of all streams. The relay consumes bytes here, and the peer gets new credit
// for them.
//
// `reach` is the time from new credit until bytes arrive that use it: a round trip and a feedback
// interval.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/arena.h"
#include "pep/base/incremental_scan.h"
#include "pep/base/time.h"
#include "pep/stp/streams/credit/receive_credit.h"
#include "pep/stp/streams/due_frames.h"
#include "pep/stp/streams/memory_check.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_set.h"

namespace satrelay::stp {

class ReceivingSide {
 public:
  // The other parts of Streams that this one uses. They must outlive it.
  struct Parts {
    StreamSet& set;
    DueFrames& due;
    MemoryCheck& memory_check;
    Arena& arena;
  };

  // `promised` is the credit that our HELLO grants for the whole lane.
  ReceivingSide(const ReceiveCredit::Limits& limits, const Parts& parts, std::uint64_t promised)
      : parts_(parts), stream_limit_(limits.stream), credit_(limits, parts.arena, promised) {}

  // To be called when the peer is established.
  void start(Instant now) {
    if (credit_.is_short()) parts_.memory_check.plan(now);
  }
  ReceiveCredit& credit() { return credit_; }
  const ReceiveCredit& credit() const { return credit_; }

  void begin(Stream& stream) { stream.receive.promise(stream_limit_); }
  void consume(Stream& stream, std::uint64_t count, Duration reach, Instant now);
  void set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now);
  // Returns the limit for a STREAM_CREDIT that is sent now, and grants it.
  std::uint64_t tell_credit(Stream& stream, Duration reach, Instant now);
  // To be called when a report is sent. Updates the limit of START_CREDIT and the credit of the
  // lane.
  void update_credit(Instant now);
  // Number of arena blocks that must stay free for bytes in order when bytes out of order are
  // stored.
  std::size_t reserve_blocks() const { return parts_.arena.attainable_blocks() / 32 + 1; }

  // Whether some streams must still get a STREAM_CREDIT. Very many streams may need one at once,
  // and each call of go_on() visits some of them.
  bool work_waits() const { return first_credits_.active(); }
  void go_on();

 private:
  ReceiveCredit::Occasion occasion(Duration reach, Instant now) const {
    return {reach, parts_.set.open_count(), now};
  }

  Parts parts_;
  std::uint64_t stream_limit_;
  ReceiveCredit credit_;
  IncrementalScan first_credits_;  // finds the streams that need a STREAM_CREDIT now
};

}  // namespace satrelay::stp
