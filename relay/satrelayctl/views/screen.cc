#include "relay/satrelayctl/views/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "relay/satrelayctl/commands/interruption.h"
#include "relay/text/table.h"

namespace satrelay::ctl {

std::size_t output_width() {
  if (::isatty(STDOUT_FILENO) == 0) return text::kAnyWidth;
  winsize window{};
  // If the terminal does not report its width, assume the traditional 80 columns.
  const bool says = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0;
  return says ? window.ws_col : ScreenSize().columns;
}

Marks terminal_marks() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* locale = std::getenv(name);
    if (locale != nullptr && *locale != '\0') return marks_of(locale);
  }
  return Marks::kAscii;
}

Screen::Screen() {
  is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (is_terminal_) {
    termios raw = before_;
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  std::cout << "\x1b[?1049h\x1b[?25l\x1b[?7l" << std::flush;
}

Screen::~Screen() {
  std::cout << "\x1b[?7h\x1b[?25h\x1b[?1049l" << std::flush;
  if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

ScreenSize Screen::size() {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row < 2) return {};
  return {window.ws_row - 1U, window.ws_col};
}

void Screen::show(const std::string& text) {
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K";
    out += c;
  }
  std::cout << out << "\x1b[J" << std::flush;
}

bool Screen::quits_within(double seconds) const {
  pollfd key{STDIN_FILENO, POLLIN, 0};
  const int timeout = static_cast<int>(seconds * 1000);
  if (is_interrupted()) return true;
  if (::poll(&key, is_terminal_ ? 1 : 0, timeout) <= 0) return is_interrupted();
  char pressed = 0;
  return ::read(STDIN_FILENO, &pressed, 1) != 1 || pressed == 'q' || pressed == 'Q';
}

}  // namespace satrelay::ctl
