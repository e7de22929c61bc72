// Uses the terminal as a screen that is redrawn, for `top` and `--watch`.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>

#include "relay/satrelayctl/views/render_history.h"
#include "relay/satrelayctl/views/render_top.h"

namespace satrelay::ctl {

// Returns the largest length of a line on standard output, in characters. Returns text::kAnyWidth
// if standard output is not a terminal, so that the reader of a pipe gets all columns.
std::size_t output_width();
// Returns the set of characters that the locale of the environment allows.
Marks terminal_marks();

// The alternate screen of the terminal, without a cursor. Keys are read without waiting for Enter,
// and lines are cut at the edge. The destructor restores the terminal.
class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // The size of the screen without its last line: text in the last line would make the terminal
  // scroll.
  static ScreenSize size();
  static void show(const std::string& text);
  // Waits for `seconds`, or until a key is pressed. Returns true if the user ends the program, by q
  // or by a signal (heed_interruptions()).
  bool quits_within(double seconds) const;

 private:
  bool is_terminal_ = false;
  termios before_{};
};

}  // namespace satrelay::ctl
