// The command line of satrelayd.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace satrelay::satrelayd {

struct Options {
  std::string file;    // the configuration
  bool check = false;  // only check the configuration
};

struct ParsedOptions {
  std::optional<Options> options;  // nullopt: end with `exit`; all messages are out
  int exit = 0;
};

// The version of this program: "0.1.0".
std::string_view version();

// Help and version go to standard output, errors to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satrelayd
