// The command line of satrelayd.
#pragma once

#include <optional>
#include <string>

namespace satrelay::satrelayd {

struct Options {
  std::string file;    // the configuration
  bool check = false;  // only check the configuration
};

struct ParsedOptions {
  std::optional<Options> options;  // nullopt: end with `exit`; all messages are out
  int exit = 0;
};

// Help and version go to standard output, errors to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satrelayd
