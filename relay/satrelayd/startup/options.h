// The command line of satrelayd.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace satrelay::satrelayd {

struct Options {
  std::string file;    // the configuration
  bool check = false;  // only say whether it is valid
};

struct ParsedOptions {
  std::optional<Options> options;  // nullopt: end with `exit`; all has been said
  int exit = 0;
};

// Of this program: "0.1.0".
std::string_view version();

// Help and version go to standard output, complaints to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satrelayd
