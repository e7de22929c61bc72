// What every stream may count on of a lane's credit, whatever the others do. Bytes of a stream that
// nobody reads keep the lane's credit for ever; so the sender leaves each stream a share, which is
// whole again with each STREAM_CREDIT: a sign that its reader reads. An eighth of the lane stays
// for streams that are yet to come; a quarter is for what goes beyond the shares.
#pragma once

#include <algorithm>
#include <cstdint>

namespace satrelay::stp {

// Of one stream.
struct LaneShare {
  std::uint64_t base = 0;  // offset from which on it is used
  std::uint16_t left = 0;
};

class LaneShares {
 public:
  // One block of what a gateway sends when there are very many streams, with its header.
  static constexpr std::uint64_t kShare = 512;

  // A session begins, whose peer grants `window` at first. There are no streams.
  void start(std::uint64_t window) {
    window_ = window;
    reserved_ = 0;
  }
  // `sends`: more may come. `sent`: its highest offset that was sent.
  void update(LaneShare& share, bool sends, std::uint64_t sent) {
    const std::uint64_t left = sends ? kShare - std::min(kShare, sent - share.base) : 0;
    if (left == share.left) return;
    reserved_ += left - share.left;
    share.left = static_cast<std::uint16_t>(left);
  }
  // What a stream may send of the `credit` that the lane has.
  std::uint64_t available(const LaneShare& share, std::uint64_t credit) const {
    return std::min(credit, share.left + beyond_shares(credit));
  }
  std::uint64_t beyond_shares(std::uint64_t credit) const {
    const std::uint64_t kept = std::min(reserved_ + window_ / 8, window_ / 4 * 3);
    return credit > kept ? credit - kept : 0;
  }
  // Whether one stream more would have its share.
  bool has_place(std::uint64_t credit) const { return credit >= reserved_ + kShare; }
  std::uint64_t reserved() const { return reserved_; }

 private:
  std::uint64_t window_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace satrelay::stp
