// Large memory for the arena of stored bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "pep/base/bytes.h"

namespace satrelay::dpdk {

// Page-aligned, touched at once (so that no packet pays for a page fault and a machine that is too
// small says so at start-up), on the largest pages that the kernel gives.
class LargeMemory {
 public:
  struct Progress {
    std::size_t left = 0;      // bytes that are still to be touched
    bool is_reserved = false;  // the kernel has set them aside: hugepages
  };
  // Called before each piece, the work of some hundredths of a second; it may throw.
  using Watch = std::function<void(const Progress&)>;

  // Throws std::runtime_error when the machine has not got that much, and what `watch` throws.
  explicit LargeMemory(std::size_t bytes, const Watch& watch = {});
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  ~LargeMemory();

  MutableBytes bytes() { return {data_, size_}; }
  // "hugepages", "transparent hugepages" or "normal pages".
  std::string_view backing() const { return backing_; }

 private:
  bool map(int flags);
  bool map_hugepages();
  void unmap();
  int touch(const Watch& watch, bool is_reserved);

  std::byte* data_ = nullptr;
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::string_view backing_;
};

}  // namespace satrelay::dpdk
