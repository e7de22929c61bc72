// Runs many short connections through one pair of gateways. Each port is used again as soon as its
// connection is over, so the gateways must keep no state of old connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pep/base/time.h"

namespace satrelay::sim {

struct ChurnReport {
  std::uint64_t flows = 0;  // connections that are over
  Duration virtual_time;
  std::size_t most_in_a_table = 0;  // largest number of flows in one gateway
  std::size_t most_arena = 0;       // largest number of bytes in use in one gateway's arena
  std::vector<std::string> broken;  // failed checks
};

// Calls `goes_on` with the number of connections that are over, about a hundred times a second of
// virtual time. The run ends when `goes_on` returns false.
ChurnReport run_churn(std::uint64_t seed, std::uint64_t flows,
                      const std::function<bool(std::uint64_t over)>& goes_on);

}  // namespace satrelay::sim
