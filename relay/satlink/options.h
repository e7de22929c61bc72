// The command line of satlink.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace satrelay::satlink {

struct Options {
  std::string file;    // name of the configuration file
  bool check = false;  // true if the program must only check the configuration
  // Control socket of a running satlink. If this is set, the program only sends a command to that
  // satlink, and does not read `file`.
  std::string control;
  std::vector<std::string> words;  // words of the command to send
};

struct ParsedOptions {
  // If this is nullopt, the program must exit with status `exit`. All messages have been printed.
  std::optional<Options> options;
  int exit = 0;
};

// Help goes to standard output, errors to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satlink
