// The command line of satlink.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace satrelay::satlink {

struct Options {
  std::string file;                // the configuration
  bool check = false;              // only check the configuration
  std::string control;             // instead of `file`: control socket of a running satlink
  std::vector<std::string> words;  // command for that satlink
};

struct ParsedOptions {
  // If this is nullopt, the program must end with status `exit`. All messages are printed.
  std::optional<Options> options;
  int exit = 0;
};

// Help goes to standard output, errors to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satlink
