// How long a listing that costs the worker time is reused before it is requested again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace satrelay::panel {

// `entries`: entries of the listing. `taken`: time that it took to fetch. The worker describes each
// entry, and must not spend time on more than a thousand entries a second, however many there are.
// A gateway that answers slowly is busy with listings for a quarter of the time at most.
constexpr std::chrono::nanoseconds kept_for(std::size_t entries, std::chrono::nanoseconds taken) {
  constexpr std::chrono::seconds kAtLeast(3);
  constexpr std::chrono::milliseconds kEach(1);
  return std::max<std::chrono::nanoseconds>({kAtLeast, entries * kEach, 3 * taken});
}

}  // namespace satrelay::panel
