// A table of a fixed number of places that all workers of a gateway read and write without a lock:
// a place is one word, so whoever reads it sees all or nothing of what another worker writes.
//
// A key is given by its hash, which must be a keyed one: 32 bits of it are kept, others find a set
// of a few places. In a set that is full the smallest value gives way, so that values with the time
// in their upper bits go in that order.
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

  // Nothing was ever put there: whoever would only find() need not hash.
  bool is_unused() const { return !used_.load(std::memory_order_relaxed); }
  std::optional<std::uint32_t> find(std::uint64_t hash) const;
  // `value` is not 0. What the key had before; nullopt if it had nothing.
  std::optional<std::uint32_t> put(std::uint64_t hash, std::uint32_t value);

 private:
  // The value stands in the upper half, what is kept of the hash in the lower one; 0: empty.
  using Place = std::atomic<std::uint64_t>;
  struct alignas(kPlacesOfASet * sizeof(Place)) Set {
    std::array<Place, kPlacesOfASet> places{};
  };
  // In proportion, as a division takes longer than all the rest.
  std::size_t set_of(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash >> 32) * sets_.size() >> 32);
  }

  std::vector<Set> sets_;
  std::atomic<bool> used_ = false;
};

}  // namespace satrelay::gateway
