// `satlab soak`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::satlab {

struct SoakOptions {
  std::string profile = "usual";  // a name that sim::parse_profile() knows
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  unsigned workers = 0;               // workers of each gateway; zero: as the profile draws them
  unsigned images = 0;                // calls between two flows that are rewritten; zero: none
  std::optional<std::uint64_t> seed;  // run only this seed
  std::string without;                // reductions of that seed's scenario
  bool trace = false;
  std::uint64_t churn = 0;  // if not 0: run this many short connections instead
  std::string json;         // "": no file
  bool quiet = false;
};

// Returns the exit status: 0 all checks passed, 1 some failed, 2 wrong options, 130 interrupted.
int soak_command(const SoakOptions& options);

}  // namespace satrelay::satlab
