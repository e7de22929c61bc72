// Overwrites the memory of an object that was destroyed. If a pointer still leads to the object, or
// an image has forgotten a member, a test shows it.
#pragma once

#include <cstddef>
#include <cstring>

namespace satrelay {

inline void poison(void* memory, std::size_t size) {
  constexpr int kPoison = 0xa5;
  std::memset(memory, kPoison, size);
  // Without this, the compiler may leave out a memset() whose result nobody reads.
  asm volatile("" : : "r"(memory) : "memory");
}

}  // namespace satrelay
