// Bridged frames that wait for their turn on the carrier. The host keeps the frames themselves, in
// the same order; here are only their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/units.h"

namespace satrelay::gateway {

class BridgedQueue {
 public:
  // `most_frames`: whatever their size, the host has as many buffers to spare.
  explicit BridgedQueue(std::size_t most_frames) : sizes_(most_frames) {}

  bool empty() const { return count_ == 0; }
  std::size_t frames() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }
  // False if the frame finds no room: beyond `limit` bytes, or too many frames.
  bool push(std::size_t ip_bytes, ByteCount limit) {
    if (count_ == sizes_.size() || bytes_ + ip_bytes > limit.value()) return false;
    sizes_[(first_ + count_++) % sizes_.size()] = static_cast<std::uint16_t>(ip_bytes);
    bytes_ += ip_bytes;
    return true;
  }
  // Takes the oldest frame out; its size. Not when empty().
  std::size_t pop() {
    const std::size_t ip_bytes = sizes_[first_];
    first_ = (first_ + 1) % sizes_.size();
    --count_;
    bytes_ -= ip_bytes;
    return ip_bytes;
  }

 private:
  std::vector<std::uint16_t> sizes_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace satrelay::gateway
