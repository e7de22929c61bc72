// Nanoseconds of one call, averaged over many.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tests/bench/stopwatch.h"

namespace satrelay::bench {

// Keeps a result from being optimized away.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Calls `work(i)` at least `calls` times, and returns nanoseconds a call. A batch of calls should
// take less than the scheduler's turn.
template <typename Work>
double timed(std::size_t calls, Work work, std::size_t batch = 256) {
  Stopwatch watch;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < calls + batch; i += batch) {
    watch.start();
    for (std::size_t j = 0; j < batch; ++j) work(i + j);
    const bool warm = i > 0;
    if (!warm) {
      watch.reset();
    } else if (watch.stop()) {
      counted += batch;
    }
  }
  return watch.nanoseconds() / static_cast<double>(std::max<std::size_t>(counted, 1));
}

}  // namespace satrelay::bench
