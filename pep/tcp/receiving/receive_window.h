// Decides which window to advertise. Positions are the peer's stream positions.
//
// The promised edge never retreats: data below it is accepted. The window field counts in units of
// 1 << scale. So the edge is rounded up if it then exceeds the limit by less than a unit, and down
// otherwise. Such a rounding is the only apparent retreat; RFC 7323 section 2.4 allows it. Silly
// windows: RFC 9293 section 3.8.6.2.2.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::tcp {

class ReceiveWindow {
 public:
  struct Memory {
    std::uint64_t next = 0;      // first position not yet received
    std::uint64_t consumed = 0;  // everything below has left the buffer
    std::uint64_t free = 0;      // bytes the arena could still store
    std::uint64_t held = 0;      // bytes below `next` that are not acknowledged yet
    std::uint64_t acknowledged() const { return next - held; }  // the field counts from here
  };

  explicit ReceiveWindow(std::uint64_t limit) : limit_(limit) {}

  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  std::uint64_t limit() const { return limit_; }
  void set_scale(std::uint8_t shift) { shift_ = shift; }
  void set_segment_size(std::uint16_t bytes) { segment_size_ = bytes; }

  // The window field for a segment sent now. It is a promise from then on.
  std::uint16_t advertise(const Memory& memory);
  // The window field of a SYN, never scaled (RFC 7323 section 2.2). It is a promise from then on.
  std::uint16_t advertise_unscaled(const Memory& memory);
  // Whether to send a window update on a connection that is otherwise idle.
  bool update_due(const Memory& memory) const;

  std::uint64_t edge() const { return promised_; }  // data below is accepted
  std::uint64_t told() const { return told_; }      // edge of the last field sent

  void image(Image& image) { image(limit_, promised_, told_, segment_size_, shift_); }

 private:
  std::uint64_t best_edge(const Memory& memory) const;
  std::uint64_t worthwhile_step() const;
  std::uint64_t round(std::uint64_t edge, const Memory& memory) const;

  std::uint64_t limit_;
  std::uint64_t promised_ = 0;
  std::uint64_t told_ = 0;
  std::uint16_t segment_size_ = 536;
  std::uint8_t shift_ = 0;
};

}  // namespace satrelay::tcp
