#include "tests/unit/pep/compress/allocations.h"

#include <cstddef>

namespace {

std::uint64_t count = 0;  // the program has one thread

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace satrelay::compress {
bool counts_allocations() { return false; }
}  // namespace satrelay::compress

#else

// A program may replace malloc. glibc keeps its own functions under these names.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): glibc's names
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t items, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

void* malloc(std::size_t size) noexcept {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) noexcept {
  ++count;
  return __libc_calloc(items, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  ++count;
  return __libc_realloc(memory, size);
}
}

namespace satrelay::compress {
bool counts_allocations() { return true; }
}  // namespace satrelay::compress

#endif

namespace satrelay::compress {
std::uint64_t allocation_count() { return count; }
}  // namespace satrelay::compress
