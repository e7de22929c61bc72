// Shows a listing repeatedly.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace satrelay::ctl {

struct WatchOptions {
  double seconds = 2;  // seconds between two readings
  std::string title;   // shown above the listing, on a terminal
  bool wide = false;   // allow lines that are longer than the width of the terminal
};

// `look` returns the text for lines of `width` characters, and may throw StatsError. On a terminal,
// each text replaces the previous text, until the user presses q or Ctrl-C. Otherwise each text is
// written after the previous text. If the first call of `look` throws, watch() throws as well. If a
// later call throws, watch() reports the error and continues. Returns the program's exit status.
// Ctrl-C is not an error.
int watch(const WatchOptions& options, const std::function<std::string(std::size_t width)>& look);

// Returns at most `most` lines of the text. If lines are left out, the last line says how many.
std::string first_lines(const std::string& text, std::size_t most);

}  // namespace satrelay::ctl
