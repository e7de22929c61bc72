// Shows a listing again and again.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace satrelay::ctl {

struct WatchOptions {
  double seconds = 2;  // between two readings
  std::string title;   // stands above, on a terminal
  bool wide = false;   // lines are not made to fit
};

// `look` returns the text for lines of `width` characters, and may throw StatsError. On a terminal
// each text replaces the previous one, until q or Ctrl-C; otherwise the texts follow each other. If
// the first call of `look` throws, so does watch(). Later calls that throw are repeated until the
// gateway answers. Returns the program's exit status. Ctrl-C is no error.
int watch(const WatchOptions& options, const std::function<std::string(std::size_t width)>& look);

// The lines for which a screen has room. The last one says how many are left out.
std::string first_lines(const std::string& text, std::size_t most);

}  // namespace satrelay::ctl
