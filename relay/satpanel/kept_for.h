// How long a listing that takes the worker's time is shown before it is asked for again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace satrelay::panel {

// Of one of so many entries, that took so long to fetch. The worker describes each entry, and that
// shall not cost it more than a thousand of them a second, however many there are; a gateway that
// answers slowly is asked a quarter of the time at most.
constexpr std::chrono::nanoseconds kept_for(std::size_t entries, std::chrono::nanoseconds taken) {
  constexpr std::chrono::seconds kAtLeast(3);
  constexpr std::chrono::milliseconds kEach(1);
  return std::max<std::chrono::nanoseconds>({kAtLeast, entries * kEach, 3 * taken});
}

}  // namespace satrelay::panel
