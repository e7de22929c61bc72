// Large memory for the arena of stored bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "pep/base/bytes.h"

namespace satrelay::dpdk {

// Page-aligned memory, on hugepages if possible. The constructor touches all pages. So there are no
// page faults while packets are processed, and if there is too little memory, start-up fails.
class LargeMemory {
 public:
  struct Progress {
    std::size_t left = 0;      // bytes not touched yet
    bool is_reserved = false;  // number of these bytes on hugepages that the kernel has reserved
  };
  // Called before each piece of 64 MiB is touched. A piece takes some hundredths of a second. The
  // function may throw.
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
