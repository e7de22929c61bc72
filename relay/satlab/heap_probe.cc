#include "relay/satlab/heap_probe.h"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// The balance: bytes allocated minus bytes released since HeapProbe::enter(). A process with a
// probe has only one thread, so a thread-local variable is enough. In other processes, nothing
// reads it.
thread_local std::int64_t balance = 0;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  void* p = alignment <= alignof(std::max_align_t)
                ? std::malloc(size == 0 ? 1 : size)
                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p != nullptr) balance += static_cast<std::int64_t>(malloc_usable_size(p));
  return p;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* p = allocate(size, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void give_back(void* p) noexcept {
  if (p != nullptr) balance -= static_cast<std::int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
// Not inlined: if GCC inlines only one of a pair of new and delete, it warns that the two do not
// match.
[[gnu::noinline]] void operator delete(void* p) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  give_back(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  give_back(p);
}

namespace satrelay::satlab {

void HeapProbe::enter(gateway::Gateway& /*engine*/, Instant /*now*/) { balance = 0; }

void HeapProbe::leave() {
  in_use_ += balance;
  most_ = std::max(most_, in_use_);
}

}  // namespace satrelay::satlab
