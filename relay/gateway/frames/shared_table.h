// A table of fixed size that all workers of a gateway read and write without a lock. An entry is
// one word, so a worker reads another worker's write either completely or not at all.
//
// A key is given by its hash, which must be a keyed one. The table stores 32 bits of the hash, and
// other bits select a set of a few entries. If the set is full, the entry with the smallest value
// is replaced. So if the values have the time in their upper bits, the oldest entry is replaced.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace satrelay::gateway {

class SharedTable {
 public:
  static constexpr std::size_t kPlacesOfASet = 4;

  explicit SharedTable(std::size_t places) : sets_(places / kPlacesOfASet) {}

  // Returns true if nothing was ever stored. A caller that only reads then need not compute a hash.
  bool is_unused() const { return !used_.load(std::memory_order_relaxed); }
  std::optional<std::uint32_t> find(std::uint64_t hash) const;
  // `value` must not be 0. Returns the previous value of the key; nullopt if the key had none.
  std::optional<std::uint32_t> put(std::uint64_t hash, std::uint32_t value);

 private:
  // The upper half is the value, and the lower half a part of the hash. A place with 0 is empty.
  using Place = std::atomic<std::uint64_t>;
  struct alignas(kPlacesOfASet * sizeof(Place)) Set {
    std::array<Place, kPlacesOfASet> places{};
  };
  // Scales the hash by a multiplication, since a division would take longer than the rest of the
  // look-up.
  std::size_t set_of(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash >> 32) * sets_.size() >> 32);
  }

  std::vector<Set> sets_;
  std::atomic<bool> used_ = false;
};

}  // namespace satrelay::gateway
