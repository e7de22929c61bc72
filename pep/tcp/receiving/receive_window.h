// Decides which window to advertise. Positions are positions in the peer's stream.
//
// The promised edge never retreats: all data below it is accepted. The window field counts in units
// of 1 << scale, so the edge must be rounded. The edge is rounded up if it then exceeds the limit
// by less than one unit. Otherwise it is rounded down. Rounding down may make the edge look as if
// it retreated, which RFC 7323 section 2.4 allows. RFC 9293 section 3.8.6.2.2 describes how silly
// windows are avoided.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::tcp {

class ReceiveWindow {
 public:
  struct Memory {
    std::uint64_t next = 0;      // first position that has not been received
    std::uint64_t consumed = 0;  // the bytes below this position have left the buffer
    std::uint64_t free = 0;      // bytes that the arena can still store
    std::uint64_t held = 0;      // bytes below `next` that we do not acknowledge yet
    std::uint64_t acknowledged() const { return next - held; }  // the window field counts from here
  };

  explicit ReceiveWindow(std::uint64_t limit) : limit_(limit) {}

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  std::uint64_t limit() const { return limit_; }
  void set_scale(std::uint8_t shift) { shift_ = shift; }
  void set_segment_size(std::uint16_t bytes) { segment_size_ = bytes; }

  // The window field for a segment that is sent now. The advertised window counts as promised.
  std::uint16_t advertise(const Memory& memory);
  // The window field for a SYN that is sent now, never scaled (RFC 7323 section 2.2). The
  // advertised window counts as promised.
  std::uint16_t advertise_unscaled(const Memory& memory);
  // Whether to send a window update on a connection that is otherwise idle.
  bool update_due(const Memory& memory) const;

  std::uint64_t edge() const { return promised_; }  // all data below this position is accepted
  std::uint64_t told() const { return told_; }  // right edge of the window that was advertised last

  void image(Image& image) {
    image(limit_, promised_, told_, segment_size_);
    image.at_most(kLargestShift, shift_);
  }

 private:
  std::uint64_t best_edge(const Memory& memory) const;
  std::uint64_t worthwhile_step() const;
  std::uint64_t round(std::uint64_t edge, const Memory& memory) const;
  static constexpr std::uint8_t kLargestShift = 14;  // RFC 7323 section 2.3

  std::uint64_t limit_;
  std::uint64_t promised_ = 0;
  std::uint64_t told_ = 0;
  std::uint16_t segment_size_ = 536;
  std::uint8_t shift_ = 0;
};

}  // namespace satrelay::tcp
