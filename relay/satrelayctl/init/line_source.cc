#include "relay/satrelayctl/init/line_source.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>

#include "relay/satrelayctl/commands/interruption.h"

namespace satrelay::ctl::init {
namespace {

// Waits until the terminal has a whole line. The wait is in pieces, since a signal that arrives
// just before poll() does not end poll().
void wait_for_line() {
  constexpr int kPieceMs = 100;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (!is_interrupted()) {
    if (::poll(&input, 1, kPieceMs) > 0) return;
  }
  throw Stopped(StopReason::kInterrupted);
}

}  // namespace

std::string read_terminal_line(const std::string& prompt) {
  std::cout << prompt << std::flush;
  std::string line;
  // A line that is longer than the buffer arrives in several pieces.
  std::array<char, 4096> buffer;
  while (line.empty() || line.back() != '\n') {
    wait_for_line();
    const ::ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw Stopped(StopReason::kInputEnded);
    line.append(buffer.data(), static_cast<std::size_t>(size));
  }
  line.pop_back();
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t");
  return first == std::string::npos ? "" : line.substr(first, last - first + 1);
}

}  // namespace satrelay::ctl::init
