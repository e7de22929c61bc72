// Large memory for the arena of stored bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "pep/base/bytes.h"

namespace satrelay::dpdk {

// Page-aligned memory on the largest pages that the kernel gives. The constructor touches all of
// it. So no packet pays for a page fault, and a machine with too little memory fails at start-up.
class LargeMemory {
 public:
  struct Progress {
    std::size_t left = 0;      // bytes not touched yet
    bool is_reserved = false;  // these bytes are on hugepages, which the kernel has reserved
  };
  // Called before each piece of 64 MiB is touched, which takes some hundredths of a second. It may
  // throw.
  using Watch = std::function<void(const Progress&)>;

  // Throws std::runtime_error if the machine does not have that much memory. Passes on exceptions
  // of `watch`.
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
