// Reserves a part of a lane's credit for each stream (its share). If the far host does not read a
// stream, the unread bytes occupy the lane's credit. The shares ensure that other streams can still
// send. Each STREAM_CREDIT renews the share of its stream, as it shows that the reader consumes
// bytes. An eighth of the lane is kept for streams that are not open yet. At least a quarter can be
// used for bytes beyond the shares.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::stp {

// The share of one stream.
struct LaneShare {
  std::uint64_t base = 0;  // the share is used up by bytes from this offset on
  std::uint16_t left = 0;

  void image(Image& image) { image(base, left); }
};

class LaneShares {
 public:
  // The size of one block with its header, as a gateway sends it when there are very many streams.
  static constexpr std::uint64_t kShare = 512;

  // Begins a session without streams. `window` is the initial credit from the peer.
  void start(std::uint64_t window) {
    window_ = window;
    reserved_ = 0;
  }
  // `sends` says whether the stream may have more to send. `sent` is the highest offset that was
  // sent.
  void update(LaneShare& share, bool sends, std::uint64_t sent) {
    const std::uint64_t left = sends ? kShare - std::min(kShare, sent - share.base) : 0;
    if (left == share.left) return;
    reserved_ += left - share.left;
    share.left = static_cast<std::uint16_t>(left);
  }
  // Bytes that the stream may send if the lane has `credit`.
  std::uint64_t available(const LaneShare& share, std::uint64_t credit) const {
    return std::min(credit, share.left + beyond_shares(credit));
  }
  std::uint64_t beyond_shares(std::uint64_t credit) const {
    const std::uint64_t kept = std::min(reserved_ + window_ / 8, window_ / 4 * 3);
    return credit > kept ? credit - kept : 0;
  }
  // Whether the credit suffices for the share of one more stream.
  bool has_place(std::uint64_t credit) const { return credit >= reserved_ + kShare; }
  std::uint64_t reserved() const { return reserved_; }

 private:
  std::uint64_t window_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace satrelay::stp
