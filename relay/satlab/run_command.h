// `satlab run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::satlab {

struct RunOptions {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  // Names of the files to write: JSON, CSV and plot. "" means that the file is not written.
  std::string json;
  std::string csv;
  std::string plot;
  bool quiet = false;
};

// Returns the exit status: 0 if all flows ended as specified, 1 if some did not, 130 if
// interrupted. Throws config::ConfigError if the scenario is wrong, and std::runtime_error for
// other errors.
int run_command(const RunOptions& options);

}  // namespace satrelay::satlab
