#include "relay/gateway/frames/shared_table.h"

namespace satrelay::gateway {
namespace {

std::uint32_t key_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t value_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

}  // namespace

std::optional<std::uint32_t> SharedTable::find(std::uint64_t hash) const {
  for (const Place& place : sets_[set_of(hash)].places) {
    const std::uint64_t word = place.load(std::memory_order_relaxed);
    if (word != 0 && key_of(word) == key_of(hash)) return value_of(word);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SharedTable::put(std::uint64_t hash, std::uint32_t value) {
  const std::uint64_t word = (std::uint64_t{value} << 32) | key_of(hash);
  if (is_unused()) used_.store(true, std::memory_order_relaxed);
  auto& places = sets_[set_of(hash)].places;
  Place* smallest = &places.front();
  std::uint64_t its_word = smallest->load(std::memory_order_relaxed);
  for (Place& place : places) {
    const std::uint64_t there = place.load(std::memory_order_relaxed);
    if (there != 0 && key_of(there) == key_of(hash)) {
      if (there != word) place.store(word, std::memory_order_relaxed);
      return value_of(there);
    }
    if (there < its_word) {
      smallest = &place;
      its_word = there;
    }
  }
  smallest->store(word, std::memory_order_relaxed);
  return std::nullopt;
}

}  // namespace satrelay::gateway
