// Memory like a gateway's: in huge pages if the kernel gives them, and resident before the first
// frame.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "pep/base/bytes.h"

namespace satrelay::bench {

class LargeMemory {
 public:
  LargeMemory() = default;
  // Touches the first `touched` bytes.
  LargeMemory(std::size_t size, std::size_t touched) : size_(size) {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(p);
    madvise(data_, size, MADV_HUGEPAGE);
    std::memset(data_, 1, touched < size ? touched : size);
  }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  LargeMemory& operator=(LargeMemory&& other) noexcept {
    release();
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = nullptr;
    return *this;
  }
  ~LargeMemory() { release(); }
  MutableBytes bytes() { return {data_, size_}; }

 private:
  void release() {
    if (data_ != nullptr) munmap(data_, size_);
    data_ = nullptr;
  }
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace satrelay::bench
