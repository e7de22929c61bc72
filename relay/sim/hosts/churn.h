// Many short connections one after the other through one pair of gateways, from ports that are used
// again as soon as a connection is over: nothing of them may be left, not even for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::sim {

struct ChurnReport {
  std::uint64_t flows = 0;  // that are over
  Duration virtual_time;
  std::size_t most_in_a_table = 0;  // flows in one gateway at a time
  std::size_t most_arena = 0;       // bytes in one gateway's arena at a time
  std::vector<std::string> broken;  // promises
};

// `goes_on` is told how many are over, some hundred times a second of virtual time, and may end it.
ChurnReport run_churn(std::uint64_t seed, std::uint64_t flows,
                      const std::function<bool(std::uint64_t over)>& goes_on);

}  // namespace satrelay::sim
