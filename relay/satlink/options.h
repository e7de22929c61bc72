// The command line of satlink.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace satrelay::satlink {

struct Options {
  std::string file;                // the configuration
  bool check = false;              // only say whether it is good
  std::string control;             // instead: the control socket of a running satlink ...
  std::vector<std::string> words;  // ... and the command for it
};

struct ParsedOptions {
  std::optional<Options> options;  // nullopt: end with `exit`; all has been said
  int exit = 0;
};

// Help goes to standard output, complaints to standard error.
[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::satlink
