// Which packets have been accepted, so that none is accepted twice (RFC 4303 section 3.4.3). A ring
// of blocks of 64 bits as in RFC 6479, but each block carries its number: whatever an accepted
// packet's number jumps over, nothing has to be cleared, and every call takes the same few steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pep/base/check.h"

namespace satrelay::crypto {

class ReplayWindow {
 public:
  enum class Verdict : std::uint8_t {
    kNew,
    kSeen,
    kTooOld,  // below the window: nobody knows any more
  };

  // Knows of the `packets` (at least one) numbers up to the highest accepted; takes 16 bytes for
  // each 64 of them, rounded up to a power of two, and nothing later.
  explicit ReplayWindow(std::size_t packets) : size_(packets) {
    SATRELAY_CHECK(packets > 0);
    // So many blocks can hold a bit of the window at one time, wherever in a block it begins.
    blocks_.resize(std::bit_ceil((packets + kBlockBits - 2) / kBlockBits + 1));
  }

  // Before a packet is authenticated: whether it is worth that. Changes nothing, since the number
  // may be forged.
  Verdict check(std::uint64_t number) const {
    if (number < end_ && end_ - number > size_) return Verdict::kTooOld;
    const Block& block = blocks_[slot(number)];
    const bool is_seen = block.number == number / kBlockBits && (block.seen & bit(number)) != 0;
    return is_seen ? Verdict::kSeen : Verdict::kNew;
  }
  // After a packet has been authenticated. kNew: it counts as seen from now on; otherwise nothing
  // has changed.
  Verdict accept(std::uint64_t number) {
    const Verdict verdict = check(number);
    if (verdict != Verdict::kNew) return verdict;
    Block& block = blocks_[slot(number)];
    if (block.number != number / kBlockBits) block = {number / kBlockBits, 0};
    block.seen |= bit(number);
    // The last of all numbers would make it 0: no sender gets there (58 years at 10^10 a second).
    end_ = std::max(end_, number + 1);
    return verdict;
  }
  // As if nothing had been accepted: for a new key.
  void reset() {
    std::fill(blocks_.begin(), blocks_.end(), Block{});
    end_ = 0;
  }

 private:
  static constexpr std::size_t kBlockBits = 64;
  struct Block {
    std::uint64_t number = ~std::uint64_t{0};  // no packet number lies in that one
    std::uint64_t seen = 0;
  };

  static std::uint64_t bit(std::uint64_t number) {
    return std::uint64_t{1} << (number % kBlockBits);
  }
  std::size_t slot(std::uint64_t number) const {
    return static_cast<std::size_t>(number / kBlockBits) & (blocks_.size() - 1);
  }
  std::uint64_t size_;
  std::uint64_t end_ = 0;  // one above the highest accepted
  std::vector<Block> blocks_;
};

}  // namespace satrelay::crypto
