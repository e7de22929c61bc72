// A source of stream bytes that is asked only when the scheduler can send them. So a block of data
// is completed only when the pacer allows sending it.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

// Called from within Session::poll_packets() for a stream that is marked as ready, and has no
// unsent bytes. The source calls write(), finish() or set_ready(stream, false) of
// Session::streams(). The head of session.h lists all calls that are allowed here.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  virtual void produce(StreamId stream, std::uint32_t context, Instant now) = 0;
  // Whether the source has used up its budget for this call of poll_packets(). The next call asks
  // the source again.
  virtual bool is_spent() const { return false; }
};

}  // namespace satrelay::stp
