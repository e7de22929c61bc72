// How long a listing that takes the worker's time is shown before it is asked for again.
#pragma once

#include <algorithm>
#include <chrono>

namespace satrelay::panel {

// Of one that took so long to fetch: the worker answers a page each 5 ms, and describes every entry
// that it has, so what is long is fetched a quarter of the time at most.
constexpr std::chrono::nanoseconds kept_for(std::chrono::nanoseconds taken) {
  constexpr std::chrono::seconds kAtLeast(3);
  return std::max<std::chrono::nanoseconds>(kAtLeast, 3 * taken);
}

}  // namespace satrelay::panel
