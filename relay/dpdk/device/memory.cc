#include "relay/dpdk/device/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "relay/dpdk/device/hugepages.h"

namespace satrelay::dpdk {
namespace {

constexpr std::size_t kHugepage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kPiece = std::size_t{64} << 20;

// Touches all pages of the piece. Returns 0 or an error number. If memory is short,
// MADV_POPULATE_WRITE (Linux 5.14) fails, whereas a write would kill the process.
int touch_piece(std::byte* begin, std::size_t size) {
  constexpr int kPopulateWrite = 23;
  while (::madvise(begin, size, kPopulateWrite) != 0) {
    if (errno == EINTR) continue;
    if (errno != EINVAL) return errno;
    for (std::size_t offset = 0; offset < size; offset += kPage) begin[offset] = std::byte{0};
    break;
  }
  return 0;
}

}  // namespace

bool LargeMemory::map(int flags) {
  void* memory =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  data_ = memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  return data_ != nullptr;
}

bool LargeMemory::map_hugepages() {
  const HugepageLock lock;
  return map(MAP_HUGETLB);
}

void LargeMemory::unmap() {
  if (data_ != nullptr) ::munmap(data_, mapped_);
  data_ = nullptr;
}

int LargeMemory::touch(const Watch& watch, bool is_reserved) {
  for (std::size_t done = 0; done < mapped_; done += kPiece) {
    const std::size_t left = mapped_ - done;
    if (watch) watch({.left = left, .is_reserved = is_reserved});
    const int error = touch_piece(data_ + done, std::min(kPiece, left));
    if (error != 0) return error;
  }
  return 0;
}

LargeMemory::LargeMemory(std::size_t bytes, const Watch& watch) : size_(bytes) {
  mapped_ = (bytes + kHugepage - 1) / kHugepage * kHugepage;
  try {
    // The kernel reserves either all of the hugepages or none. Even if they are reserved, touching
    // them may fail, for example because of a cgroup's limit.
    if (map_hugepages()) {
      backing_ = "hugepages";
      if (touch(watch, true) == 0) return;
      unmap();
    }
    const bool is_mapped = map(MAP_NORESERVE);
    if (is_mapped) {
      backing_ =
          ::madvise(data_, mapped_, MADV_HUGEPAGE) == 0 ? "transparent hugepages" : "normal pages";
    }
    const int error = is_mapped ? touch(watch, false) : errno;
    if (error != 0) {
      throw std::runtime_error("cannot allocate " + std::to_string(bytes >> 20) +
                               " MiB for stored bytes: " + std::strerror(error));
    }
  } catch (...) {
    unmap();
    throw;
  }
}

LargeMemory::~LargeMemory() { unmap(); }

}  // namespace satrelay::dpdk
