// Counts the bytes in order of readers that have taken none of theirs for a while. It is unknown
// when this memory comes back. O(1) for each packet and each read.
#pragma once

#include <cstdint>
#include <utility>

#include "pep/base/time.h"
#include "pep/stp/streams/stream.h"

namespace satrelay::stp {

class ParkedBytes {
 public:
  // More bytes are in order.
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
  // The reader has taken some bytes, or waits for more than there are.
  void on_taken(Stream& stream, Instant now) {
    forget(stream);
    on_arrived(stream, now);
  }
  void forget(Stream& stream) {
    if (!stream.is_hot()) return;
    total_ -= std::exchange(stream.heat().parked, 0);
    unread_.remove(stream);
  }
  // The bytes that have been unread for at least `patience`. If very many become so at once, each
  // call counts some of them.
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
  std::uint64_t noted() const { return total_; }  // as of the last total()

 private:
  static constexpr int kMostAtOnce = 64;
  UnreadList unread_;  // the longest unread first
  std::uint64_t total_ = 0;
};

}  // namespace satrelay::stp
