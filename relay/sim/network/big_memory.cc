#include "relay/sim/network/big_memory.h"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace satrelay::sim {

BigMemory::BigMemory(std::size_t size, Pages pages) : size_(size) {
  void* memory = mmap(nullptr, size == 0 ? 1 : size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // The call only advises the kernel: if it fails, the run is slower.
  if (pages == Pages::kLarge) madvise(memory, size, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(memory);
}

BigMemory::BigMemory(BigMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

BigMemory::~BigMemory() {
  if (data_ != nullptr) munmap(data_, size_ == 0 ? 1 : size_);
}

}  // namespace satrelay::sim
