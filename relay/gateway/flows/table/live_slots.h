// The set of slots in use, with one bit for each slot. It finds the n-th slot in use among tens of
// thousands of slots in a few hundred steps.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "relay/gateway/flows/table/flow_table.h"

namespace satrelay::gateway {

class LiveSlots {
 public:
  explicit LiveSlots(std::uint32_t slots) : words_((slots + kBits - 1) / kBits, 0) {}

  void set(std::uint32_t slot) { words_[slot / kBits] |= bit(slot); }
  void clear(std::uint32_t slot) { words_[slot / kBits] &= ~bit(slot); }
  // The slot in use that has `before` slots in use before it; kNoSlot if there is no such slot.
  std::uint32_t nth(std::size_t before) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto here = static_cast<std::size_t>(std::popcount(words_[i]));
      if (before >= here) {
        before -= here;
        continue;
      }
      std::uint64_t word = words_[i];
      for (; before > 0; --before) word &= word - 1;
      return static_cast<std::uint32_t>(i) * kBits +
             static_cast<std::uint32_t>(std::countr_zero(word));
    }
    return kNoSlot;
  }
  // The first slot in use from `slot` on; kNoSlot if there is none.
  std::uint32_t from(std::uint32_t slot) const {
    if (slot / kBits >= words_.size()) return kNoSlot;
    std::uint64_t word = words_[slot / kBits] & ~(bit(slot) - 1);
    for (std::size_t i = slot / kBits;; word = words_[i]) {
      if (word != 0) {
        return static_cast<std::uint32_t>(i) * kBits +
               static_cast<std::uint32_t>(std::countr_zero(word));
      }
      if (++i == words_.size()) return kNoSlot;
    }
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static std::uint64_t bit(std::uint32_t slot) { return std::uint64_t{1} << (slot % kBits); }
  std::vector<std::uint64_t> words_;
};

}  // namespace satrelay::gateway
