// The options of the command line. The tests read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace satrelay::sim {

struct Options {
  std::uint64_t from = 1;  // First seed; also the seed of the tests beside other traffic.
  std::uint64_t seeds = 200;
  std::optional<std::uint64_t> seed;        // Run this seed only.
  std::size_t short_flows = 60;             // Flows of each kind that the short flow tests measure.
  std::uint64_t memory_rate = 100'000'000;  // Unit: bit/s. For the test of a receiver's memory.
  bool trace = false;
};

Options& options();

}  // namespace satrelay::sim
