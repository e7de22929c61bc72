// Reads the bytes of a flow's inbound stream, and tells the session later that all of them are
// consumed. So the session computes the peer's credit only once for several pieces.
#pragma once

#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/base/containers/reassembler.h"
#include "pep/base/time.h"
#include "pep/stp/session.h"

namespace satrelay::gateway {

class InboundReader {
 public:
  // The session must have the stream.
  InboundReader(stp::Session& session, stp::StreamId stream)
      : session_(session), stream_(stream), stored_(*session.streams().received(stream)) {}

  std::uint64_t readable() const { return stored_.readable() - ahead_; }
  ConstBytes front() const { return stored_.front(ahead_); }  // first contiguous part of the bytes
  // Fills `out`, which must not be larger than readable().
  void copy(MutableBytes out) const { stored_.copy_front(out, ahead_); }
  void skip(std::uint64_t count) { ahead_ += count; }
  // Tells the session that the skipped bytes are consumed. Returns false if no bytes were skipped.
  bool consume(Instant now) {
    if (ahead_ == 0) return false;
    session_.streams().consume(stream_, ahead_, now);
    ahead_ = 0;
    return true;
  }
  void need(std::uint64_t bytes, Instant now) {
    session_.streams().set_reader_needs(stream_, bytes, now);
  }

 private:
  stp::Session& session_;
  const stp::StreamId stream_;
  const Reassembler& stored_;
  std::uint64_t ahead_ = 0;
};

}  // namespace satrelay::gateway
