// `satlab run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace satrelay::satlab {

struct RunOptions {
  std::string scenario;
  std::optional<std::uint64_t> seed;
  std::string json;  // "": no file, here and below
  std::string csv;
  std::string plot;
  bool quiet = false;
};

// Returns the exit status: 0 all flows ended as specified, 1 some did not, 130 interrupted. Throws
// config::ConfigError for a wrong scenario, std::runtime_error for other errors.
int run_command(const RunOptions& options);

}  // namespace satrelay::satlab
