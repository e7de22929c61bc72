// Gives a stream bytes at the moment when the scheduler can send them: a block closes when the
// pacer asks for it.
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

// Called from within Session::poll_packets(), for a stream that is marked ready and has nothing
// left to send. The source calls write(), finish() or set_ready(stream, false) of
// Session::streams(). The head of session.h lists all that it may call.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  virtual void produce(StreamId stream, std::uint32_t context, Instant now) = 0;
  // The source has done as much as it may in this call. It is asked again in the next one.
  virtual bool is_spent() const { return false; }
};

}  // namespace satrelay::stp
