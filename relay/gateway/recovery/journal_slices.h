// Divides the journal of a gateway with several workers into consecutive slices, one for each
// worker.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// How many records all slices have together, if the flow table has `flows` slots.
constexpr std::size_t journal_records(std::uint32_t flows, unsigned workers) {
  return std::size_t{part_of(flows, workers)} * workers;
}

// The slices, each with the records of its worker's flows. If the number of workers has changed
// since an earlier run, the records of that run are moved to the slices of their new workers.
// `dropped`: how many records were dropped because their slice had no free record.
struct JournalSlices {
  std::vector<MutableBytes> slices;
  std::size_t dropped = 0;
};
JournalSlices deal_out(MutableBytes journal, unsigned workers);

}  // namespace satrelay::gateway
