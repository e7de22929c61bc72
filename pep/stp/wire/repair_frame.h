// REPAIR: one repair symbol of a block of protected packets (docs/stp.md section 11).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "pep/stp/wire/varint.h"

namespace satrelay::stp {

// Which packets make up a block, counted from its first one.
class BlockMembers {
 public:
  static constexpr std::size_t kMaxSpan = 128;  // from the first to the last number

  bool contains(std::size_t at) const { return (words_[at / 64] >> (at % 64) & 1U) != 0; }
  void insert(std::size_t at) { words_[at / 64] |= std::uint64_t{1} << (at % 64); }
  std::size_t count() const {
    return static_cast<unsigned>(std::popcount(words_[0])) +
           static_cast<unsigned>(std::popcount(words_[1]));
  }
  // One past the last.
  std::size_t span() const {
    return words_[1] != 0 ? 128 - static_cast<std::size_t>(std::countl_zero(words_[1]))
                          : 64 - static_cast<std::size_t>(std::countl_zero(words_[0]));
  }
  // Calls function(at, place) in ascending order; `place` is the source's number in the code.
  template <typename Function>
  void for_each(Function&& function) const {
    std::size_t place = 0;
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t rest = words_[word]; rest != 0; rest &= rest - 1) {
        function(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)), place++);
      }
    }
  }
  friend bool operator==(const BlockMembers&, const BlockMembers&) = default;

 private:
  std::array<std::uint64_t, 2> words_{};
};

struct RepairFrame {
  std::uint64_t distance = 0;  // from the block's first packet to the one that carries this frame
  std::uint8_t row = 0;        // of the code's matrix
  BlockMembers members;        // at least the first one; all lie below the carrier
  ConstBytes symbol;
};

// A source symbol is the length of a packet's frames (16 bits), and the frames.
inline constexpr std::size_t kSymbolLengthSize = 2;
// What a REPAIR frame takes besides the frames of the block's longest packet, at most.
inline constexpr std::size_t kMaxRepairOverhead =
    3 + 4 + 2 + BlockMembers::kMaxSpan / 8 + kSymbolLengthSize;
// Packets that a repair protects, and repairs of a block.
inline constexpr std::size_t kMaxRepairSources = 64, kMaxRepairRows = 24;
// Farther away than this is no block that a sender still repairs.
inline constexpr std::uint64_t kMaxRepairDistance = (1U << 30) - 1;

// `body` is what the frame's length covers; the reader fails on anything malformed.
RepairFrame parse_repair(ByteReader& body);
// Type byte and all, but for the symbol, of which `symbol_size` bytes must follow.
void write_repair_header(ByteWriter& out, const RepairFrame& frame, std::size_t symbol_size);

}  // namespace satrelay::stp
