// Divides the journal of a gateway with several workers into consecutive slices, one for each
// worker.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// The total number of records of all slices, if the flow table has `flows` slots.
constexpr std::size_t journal_records(std::uint32_t flows, unsigned workers) {
  return std::size_t{part_of(flows, workers)} * workers;
}

// The slices, each with the records of its worker's flows. If the earlier run had another number of
// workers, its records are moved to the slices of their new workers. `dropped`: number of records
// that were dropped because there was no room in their new slice.
struct JournalSlices {
  std::vector<MutableBytes> slices;
  std::size_t dropped = 0;
};
JournalSlices deal_out(MutableBytes journal, unsigned workers);

}  // namespace satrelay::gateway
