// A table with a fixed number of places, which all workers of a gateway read and write without a
// lock. A place is one word, so a worker reads all or nothing of another worker's write.
//
// A key is given by its hash, which must be a keyed one. The table keeps 32 bits of the hash, and
// other bits find a set of a few places. In a full set the smallest value gives way. So if values
// have the time in their upper bits, the oldest gives way.
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

  // True if nothing was ever put there. A caller that only reads need not hash then.
  bool is_unused() const { return !used_.load(std::memory_order_relaxed); }
  std::optional<std::uint32_t> find(std::uint64_t hash) const;
  // `value` must not be 0. Returns the key's value before; nullopt if it had none.
  std::optional<std::uint32_t> put(std::uint64_t hash, std::uint32_t value);

 private:
  // The value is in the upper half, a part of the hash in the lower half; 0: empty.
  using Place = std::atomic<std::uint64_t>;
  struct alignas(kPlacesOfASet * sizeof(Place)) Set {
    std::array<Place, kPlacesOfASet> places{};
  };
  // Scales the hash by a multiplication, since a division would take longer than all the rest.
  std::size_t set_of(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash >> 32) * sets_.size() >> 32);
  }

  std::vector<Set> sets_;
  std::atomic<bool> used_ = false;
};

}  // namespace satrelay::gateway
