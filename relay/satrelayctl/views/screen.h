// The terminal as a screen that is shown anew, as `top` and `--watch` do.
#pragma once

#include <termios.h>

#include <cstddef>
#include <string>

#include "relay/satrelayctl/views/render_top.h"

namespace satrelay::ctl {

// Characters in a line of standard output; text::kAnyWidth if it is no terminal: who reads a pipe
// finds all columns there.
std::size_t output_width();

// The other screen of the terminal, without cursor, whose keys come at once and whose lines are cut
// at its edge; as before at the end.
class Screen {
 public:
  Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // But for the last line, as the terminal would scroll.
  static ScreenSize size();
  static void show(const std::string& text);
  // Waits; true if somebody wants it to end, by q or a signal (heed_interruptions()).
  bool quits_within(double seconds) const;

 private:
  bool is_terminal_ = false;
  termios before_{};
};

}  // namespace satrelay::ctl
