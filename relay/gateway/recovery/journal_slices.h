// The journal of a gateway with several workers: consecutive slices, one for each worker.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// How many records all slices have together, for a table of `flows`.
constexpr std::size_t journal_records(std::uint32_t flows, unsigned workers) {
  return std::size_t{part_of(flows, workers)} * workers;
}

// The slices, each with the records of its worker's flows. Records of an earlier run may have been
// in other slices, if the number of workers has changed. A record that finds no room in its slice
// is dropped. `dropped`: how many.
struct JournalSlices {
  std::vector<MutableBytes> slices;
  std::size_t dropped = 0;
};
JournalSlices deal_out(MutableBytes journal, unsigned workers);

}  // namespace satrelay::gateway
