// Memory for arenas and frames. The constructor only reserves address space, and the kernel
// provides a page when the page is first touched. Memory of which much will be used gets large
// pages, since a run with gigabytes would otherwise spend its time on page faults. Other memory
// gets small pages, since the kernel would have to zero a whole large page for each small use.
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
  // The memory is zeroed. Throws std::bad_alloc if there is not enough address space.
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
