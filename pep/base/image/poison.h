// Overwrites the memory of a destroyed object. Then tests fail if a pointer to the object is used
// later, or if the image of the object left out a member.
#pragma once

#include <cstddef>
#include <cstring>

namespace satrelay {

inline void poison(void* memory, std::size_t size) {
  constexpr int kPoison = 0xa5;
  std::memset(memory, kPoison, size);
  // Without this statement, the compiler may leave out the memset(), because no code reads the
  // bytes.
  asm volatile("" : : "r"(memory) : "memory");
}

}  // namespace satrelay
