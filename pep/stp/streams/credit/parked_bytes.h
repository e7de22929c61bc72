// Counts parked bytes: in-order bytes that the reader has not consumed for a while. It is unknown
// when their memory will be free again. Each packet and each read costs O(1).
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/time.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class ParkedBytes {
 public:
  // More bytes of the stream are in order.
  void on_arrived(Stream& stream, Instant now) {
    const std::uint64_t readable = stream.receive.bytes().readable();
    if (readable == 0 || readable < stream.hot().reader_needs) return;
    StreamHot& hot = stream.heat();
    if (hot.parked > 0) {
      total_ += readable - hot.parked;
      hot.parked = readable;
    } else if (!UnreadList::contains(stream)) {
      hot.unread_since = now;
      unread_.push_back(stream);
    }
  }
  // The reader has consumed some bytes, or needs more bytes than are in order so far.
  void on_taken(Stream& stream, Instant now) {
    forget(stream);
    on_arrived(stream, now);
  }
  void forget(Stream& stream) {
    if (!stream.is_hot()) return;
    total_ -= std::exchange(stream.heat().parked, 0);
    unread_.remove(stream);
  }
  // Returns the number of parked bytes. The in-order bytes of a stream are parked if some have been
  // unread for at least `patience`. If very many streams reach this time at once, each call adds
  // some of them.
  std::uint64_t total(Duration patience, Instant now) {
    for (int i = 0; i < kMostAtOnce; ++i) {
      if (unread_.empty() || unread_.front()->hot().unread_since + patience > now) break;
      Stream& stream = *unread_.front();
      unread_.remove(stream);
      stream.heat().parked = stream.receive.bytes().readable();
      total_ += stream.hot().parked;
    }
    return total_;
  }
  std::uint64_t noted() const { return total_; }  // the result of the last total()

 private:
  static constexpr int kMostAtOnce = 64;
  UnreadList unread_;  // the stream with the longest wait first
  std::uint64_t total_ = 0;
};

}  // namespace satrelay::stp
