// Counts what this test program takes from malloc, C libraries included.
#pragma once

#include <cstdint>

namespace satrelay::compress {

bool counts_allocations();  // false where a sanitizer owns malloc
std::uint64_t allocation_count();

}  // namespace satrelay::compress
