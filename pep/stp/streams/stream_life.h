// How streams begin and end. stream.h shows the states of a stream.
//
// receiving_side.h explains `reach`.
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
  // The other parts of Streams that this one uses. They must outlive it.
  struct Parts {
    StreamSet& set;
    DueFrames& due;
    StreamEvents& events;
    ReceivingSide& receiving;
    SendingSide& sending;
    WorkCount& work;
  };

  // If a stream cannot end within the time `linger`, it is reset.
  StreamLife(Duration linger, const Parts& parts) : parts_(parts), wait_(linger) {}

  // Creates a stream; nullptr if no slot is free.
  [[nodiscard]] Stream* create(std::uint64_t id, Stream::Phase phase, Own own, Instant now);
  // Opens a stream of ours with an OPEN that carries `metadata`; nullptr if no slot is free.
  [[nodiscard]] Stream* open(std::uint64_t id, ConstBytes metadata, std::uint32_t context,
                             Instant now);
  // The OPEN of a stream that the peer has opened has arrived.
  void on_opened(Stream& stream, ConstBytes metadata);
  // Resets a stream on behalf of the relay, which gets no more events of the stream.
  void reset(Stream& stream, ResetReason reason, Instant now);
  // Resets a stream that the relay does not know, or has released. Its phase must not be
  // kResetting.
  void begin_reset(Stream& stream, ResetReason reason, Instant now);
  // Resets a stream because of the peer's RESET or an error. If the relay knows the stream, it gets
  // the event kReset.
  void fail(Stream& stream, ResetReason reason, Instant now);
  void release(Stream& stream, Duration reach, Instant now);
  void free_if_over(Stream& stream);

  // The earliest time at which a stream has waited too long. A stream may wait for its OPEN, for
  // the end of its reset, or, after the relay has released it, for its end.
  Instant next_linger() const {
    return linger_.empty() ? Instant::never() : linger_.front()->hot().linger_deadline;
  }
  // Packets of the peer have arrived here since `heard`, and packets have arrived in both
  // directions since `reached`. Each is never() if packets do not arrive at present. run_linger()
  // resets a stream only if packets have arrived for the whole linger time: since `heard` if the
  // stream waits for its OPEN, otherwise since `reached`. Returns how many streams were reset.
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
  LingerList linger_;  // in order of deadlines, as all streams wait equally long
};

}  // namespace satrelay::stp
