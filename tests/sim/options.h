// What the command line asked for; read by the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace satrelay::sim {

struct Options {
  std::uint64_t from = 1;  // the seed of the tests beside other traffic, too
  std::uint64_t seeds = 200;
  std::optional<std::uint64_t> seed;        // only this one
  std::size_t short_flows = 60;             // of each kind that the short flow tests measure
  std::uint64_t memory_rate = 100'000'000;  // bit/s, of the test of a receiver's memory
  bool trace = false;
};

Options& options();

}  // namespace satrelay::sim
