// How streams begin and end. See the states of a stream in stream.h.
//
// `reach`: as in receiving_side.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/work_count.h"
#include "pep/stp/streams/due_frames.h"
#include "pep/stp/streams/receiving_side.h"
#include "pep/stp/streams/sending_side.h"
#include "pep/stp/streams/stream.h"
#include "pep/stp/streams/stream_events.h"
#include "pep/stp/streams/stream_set.h"

namespace satrelay::stp {

class StreamLife {
 public:
  using Own = StreamSet::Own;
  // The other parts of Streams that this one uses. They outlive it.
  struct Parts {
    StreamSet& set;
    DueFrames& due;
    StreamEvents& events;
    ReceivingSide& receiving;
    SendingSide& sending;
    WorkCount& work;
  };

  // `linger`: a stream that cannot end is reset after this time.
  StreamLife(Duration linger, const Parts& parts) : parts_(parts), wait_(linger) {}

  // nullptr if no slot is free.
  [[nodiscard]] Stream* create(std::uint64_t id, Stream::Phase phase, Own own, Instant now);
  // Opens a stream of ours, with an OPEN that carries `metadata`; nullptr if no slot is free.
  [[nodiscard]] Stream* open(std::uint64_t id, ConstBytes metadata, std::uint32_t context,
                             Instant now);
  // The OPEN of a peer's stream has arrived.
  void on_opened(Stream& stream, ConstBytes metadata);
  // The relay ends the stream, and gets no more events for it.
  void reset(Stream& stream, ResetReason reason, Instant now);
  // The same for a stream that the relay does not know or has released. The phase is not kResetting
  // yet.
  void begin_reset(Stream& stream, ResetReason reason, Instant now);
  // The session ends the stream. The relay gets the event of a reset by the peer, if it knows the
  // stream.
  void fail(Stream& stream, ResetReason reason, Instant now);
  void release(Stream& stream, Duration reach, Instant now);
  void free_if_over(Stream& stream);

  // When the next stream has waited too long: for its OPEN, for the end of its reset, or for its
  // end after the relay has released it.
  Instant next_linger() const {
    return linger_.empty() ? Instant::never() : linger_.front()->hot().linger_deadline;
  }
  // The times since which the peer is heard, and since which it hears us; never() if it does not. A
  // stream is reset only if these have lasted for the time that streams linger: `heard` if it waits
  // for its OPEN, else `reached`. Returns how many streams were reset.
  struct PathSince {
    Instant heard, reached;
  };
  [[nodiscard]] std::size_t run_linger(const PathSince& path, Instant now);

 private:
  void linger(Stream& stream, Instant now);
  void unlink(Stream& stream);
  void erase(Stream& stream);

  Parts parts_;
  Duration wait_;
  LingerList linger_;  // all wait equally long, so they are in order of deadlines
};

}  // namespace satrelay::stp
