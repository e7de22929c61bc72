// The journal of a gateway with several workers: a slice for each, one behind the other.
#pragma once

#include <cstddef>
#include <vector>

#include "pep/base/bytes.h"
#include "relay/gateway/steering/share.h"

namespace satrelay::gateway {

// Records of all slices together, for a table of `flows`.
constexpr std::size_t journal_records(std::uint32_t flows, unsigned workers) {
  return std::size_t{part_of(flows, workers)} * workers;
}

// The slices, each with the records of its worker's flows: those of an earlier run may have lain
// elsewhere, as there were more workers or fewer. What finds no room in its slice is dropped; how
// many that are.
struct JournalSlices {
  std::vector<MutableBytes> slices;
  std::size_t dropped = 0;
};
JournalSlices deal_out(MutableBytes journal, unsigned workers);

}  // namespace satrelay::gateway
