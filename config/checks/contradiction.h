// A message about a value, for the place of the value in the file.
#pragma once

#include <string>

namespace satrelay::config {

struct Contradiction {
  std::string path;     // as in the YAML: "peers[1].address"
  std::string message;  // the contradiction, and what to do about it
};

}  // namespace satrelay::config
