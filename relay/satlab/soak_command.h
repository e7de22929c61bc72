// `satlab soak`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::satlab {

struct SoakOptions {
  std::string profile = "usual";  // name of a profile, as sim::parse_profile() expects it
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  unsigned workers = 0;  // number of workers of each gateway; zero means that the profile draws it
  unsigned images = 0;   // engine calls between two rewritings of a flow; zero means no rewriting
  std::optional<std::uint64_t> seed;  // if set, run only this seed
  std::string without;                // reductions to apply to the scenario of `seed`
  bool trace = false;
  std::uint64_t churn = 0;  // if not 0, run this many short connections instead of scenarios
  std::string json;         // name of the JSON file; "" if there is none
  bool quiet = false;
};

// Returns the exit status: 0 if all checks passed, 1 if some failed, 2 if the options are wrong,
// 130 if interrupted.
int soak_command(const SoakOptions& options);

}  // namespace satrelay::satlab
