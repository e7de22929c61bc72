// A listing, shown again and again.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace satrelay::ctl {

struct WatchOptions {
  double seconds = 2;  // between two looks
  std::string title;   // above, on a terminal
  bool wide = false;   // no line is made to fit
};

// `look` is asked for the text for lines of so many characters, and throws StatsError. On a
// terminal each takes the place of the one before, until q or Ctrl-C; else they follow each other.
// Throws what the first look throws; later ones wait for the gateway. The exit status of the
// program, which is that of Ctrl-C, and no error.
int watch(const WatchOptions& options, const std::function<std::string(std::size_t width)>& look);

// The lines that a screen has room for; the last says how many are left out.
std::string first_lines(const std::string& text, std::size_t most);

}  // namespace satrelay::ctl
