// The streams as their readers and the peer's writers see them: bytes that the relay takes, and the
// credit that this brings the peer.
//
// `reach`: the time until credit that is granted now brings bytes, a round trip and a feedback
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
  // The other parts of Streams that this one uses. They outlive it.
  struct Parts {
    StreamSet& set;
    DueFrames& due;
    MemoryCheck& memory_check;
    Arena& arena;
  };

  // `promised`: the lane's credit that our HELLO grants.
  ReceivingSide(const ReceiveCredit::Limits& limits, const Parts& parts, std::uint64_t promised)
      : parts_(parts), stream_limit_(limits.stream), credit_(limits, parts.arena, promised) {}

  // The peer is established.
  void start(Instant now) {
    if (credit_.is_short()) parts_.memory_check.plan(now);
  }
  ReceiveCredit& credit() { return credit_; }
  const ReceiveCredit& credit() const { return credit_; }

  void begin(Stream& stream) { stream.receive.promise(stream_limit_); }
  void consume(Stream& stream, std::uint64_t count, Duration reach, Instant now);
  void set_reader_needs(Stream& stream, std::uint64_t bytes, Instant now);
  // A STREAM_CREDIT leaves. Returns its limit, which holds from now on.
  std::uint64_t tell_credit(Stream& stream, Duration reach, Instant now);
  // A report leaves. Checks which other credit is worth a frame.
  void update_credit(Instant now);
  // Blocks that bytes out of order must leave to bytes in order.
  std::size_t reserve_blocks() const { return parts_.arena.attainable_blocks() / 32 + 1; }

  // Very many streams may need a STREAM_CREDIT at once. go_on() grants some.
  bool work_waits() const { return first_credits_.active(); }
  void go_on();

 private:
  ReceiveCredit::Occasion occasion(Duration reach, Instant now) const {
    return {reach, parts_.set.open_count(), now};
  }

  Parts parts_;
  std::uint64_t stream_limit_;
  ReceiveCredit credit_;
  IncrementalScan first_credits_;  // gives STREAM_CREDIT to streams that need one now
};

}  // namespace satrelay::stp
