// Decides how long a listing is reused before it is fetched again, since each fetch is work for the
// gateway's worker.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace satrelay::panel {

// `entries` is the number of entries in the listing, and `taken` the time that it took to fetch the
// listing. The result keeps the worker from describing more than a thousand entries a second on
// average, and a slow gateway from spending more than a quarter of its time on listings.
constexpr std::chrono::nanoseconds kept_for(std::size_t entries, std::chrono::nanoseconds taken) {
  constexpr std::chrono::seconds kAtLeast(3);
  constexpr std::chrono::milliseconds kEach(1);
  return std::max<std::chrono::nanoseconds>({kAtLeast, entries * kEach, 3 * taken});
}

}  // namespace satrelay::panel
