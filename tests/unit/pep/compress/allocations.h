// Counts the allocations that this test program makes with malloc, those of C libraries included.
#pragma once

#include <cstdint>

namespace satrelay::compress {

bool counts_allocations();  // false if a sanitizer replaces malloc
std::uint64_t allocation_count();

}  // namespace satrelay::compress
