#include "relay/dpdk/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace satrelay::dpdk {
namespace {

constexpr std::size_t kHugepage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

std::byte* map(std::size_t bytes, int flags) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

}  // namespace

LargeMemory::LargeMemory(std::size_t bytes) : size_(bytes) {
  mapped_ = (bytes + kHugepage - 1) / kHugepage * kHugepage;
  data_ = map(mapped_, MAP_HUGETLB | MAP_POPULATE);
  if (data_ != nullptr) {
    backing_ = "hugepages";
    return;
  }
  data_ = map(mapped_, MAP_NORESERVE);
  if (data_ == nullptr) {
    throw std::runtime_error("cannot allocate " + std::to_string(bytes >> 20) +
                             " MiB for stored bytes: " + std::strerror(errno));
  }
  backing_ =
      ::madvise(data_, mapped_, MADV_HUGEPAGE) == 0 ? "transparent hugepages" : "normal pages";
  // MADV_POPULATE_WRITE (Linux 5.14) fails where memory is short, instead of killing the process.
  constexpr int kPopulateWrite = 23;
  if (::madvise(data_, mapped_, kPopulateWrite) == 0) return;
  if (errno != EINVAL) {
    const std::string reason = std::strerror(errno);
    ::munmap(data_, mapped_);
    throw std::runtime_error("cannot allocate " + std::to_string(bytes >> 20) +
                             " MiB for stored bytes: " + reason);
  }
  for (std::size_t offset = 0; offset < mapped_; offset += kPage) data_[offset] = std::byte{0};
}

LargeMemory::~LargeMemory() { ::munmap(data_, mapped_); }

}  // namespace satrelay::dpdk
