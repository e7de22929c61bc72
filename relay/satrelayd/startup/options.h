// The command line of satrelayd.
#pragma once

#include <optional>
#include <string>

namespace satrelay::satrelayd {

struct Options {
  std::string file;    // name of the configuration file
  bool check = false;  // true if the program must only check the configuration
  bool force = false;  // takes an interface even if a bridge or a bond has it
};

struct ParsedOptions {
  // If this is nullopt, the program must exit with status `exit`. All messages have been printed.
  std::optional<Options> options;
  int exit = 0;
};

// Prints help and the version to standard output, and errors to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satrelayd
