// Converts between the 32-bit sequence numbers and 64-bit stream positions of one direction.
// Position 0 is the byte after the SYN. The SYN is at position -1, and a FIN is at the position
// after the last byte.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"
#include "pep/base/sequence.h"

namespace satrelay::tcp {

class SequenceSpace {
 public:
  SequenceSpace() = default;
  explicit SequenceSpace(std::uint32_t initial_sequence) : base_(initial_sequence + 1) {}

  std::uint32_t initial_sequence() const { return base_ - 1; }
  std::uint32_t to_sequence(std::uint64_t position) const {
    return base_ + static_cast<std::uint32_t>(position);
  }
  // Returns the position nearest to `reference` that has this sequence number. A position before
  // the stream's first byte is negative.
  std::int64_t to_position(std::uint32_t sequence, std::uint64_t reference) const {
    constexpr std::uint64_t kLead = std::uint64_t{1} << 32;  // keeps the unwrapping unsigned
    const std::uint32_t truncated = sequence - base_;
    return static_cast<std::int64_t>(unwrap_sequence<32>(truncated, reference + kLead) - kLead);
  }

  void image(Image& image) { image(base_); }

 private:
  std::uint32_t base_ = 0;
};

}  // namespace satrelay::tcp
