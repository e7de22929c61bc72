// Large memory for the arena of stored bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "pep/base/bytes.h"

namespace satrelay::dpdk {

// Page-aligned, touched at once (so that no packet pays for a page fault and a machine that is too
// small says so at start-up), on the largest pages that the kernel gives.
class LargeMemory {
 public:
  // Throws std::runtime_error when the machine has not got that much.
  explicit LargeMemory(std::size_t bytes);
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  ~LargeMemory();

  MutableBytes bytes() { return {data_, size_}; }
  // "hugepages", "transparent hugepages" or "normal pages".
  std::string_view backing() const { return backing_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::string_view backing_;
};

}  // namespace satrelay::dpdk
