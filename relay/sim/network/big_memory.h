// Memory for arenas and frames: address space at once, pages once touched. Large pages where much
// is used, since a run of gigabytes would else spend its time in page faults; small ones where
// little is, since each large page is zeroed whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"

namespace satrelay::sim {

class BigMemory {
 public:
  enum class Pages : std::uint8_t { kSmall, kLarge };
  static constexpr Pages pages_for(std::size_t likely_use) {
    return likely_use >= (std::size_t{256} << 20) ? Pages::kLarge : Pages::kSmall;
  }
  // Zeroed. Throws std::bad_alloc if there is no address space for it.
  BigMemory(std::size_t size, Pages pages);
  ~BigMemory();
  BigMemory(BigMemory&& other) noexcept;
  BigMemory(const BigMemory&) = delete;
  BigMemory& operator=(const BigMemory&) = delete;
  BigMemory& operator=(BigMemory&&) = delete;

  std::byte* data() const { return data_; }
  MutableBytes bytes() const { return {data_, size_}; }

 private:
  std::byte* data_;
  std::size_t size_;
};

}  // namespace satrelay::sim
