// Gives a stream bytes at the moment the scheduler can send them ("a block closes when the pacer
// asks for it").
#pragma once

#include <cstdint>

#include "pep/base/time.h"
#include "pep/stp/types.h"

namespace satrelay::stp {

// Called from within poll_packet() and poll_run(), for a stream marked ready that has nothing left
// to send. The source calls write(), finish() or set_ready(stream, false) on the session.
class StreamSource {
 public:
  virtual ~StreamSource() = default;
  virtual void produce(StreamId stream, std::uint32_t context, Instant now) = 0;
  // It has done as much as it may in this call, and is to be asked for more in the next one.
  virtual bool is_spent() const { return false; }
};

}  // namespace satrelay::stp
