#include "relay/satrelayctl/commands/capture.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "relay/satrelayctl/commands/interruption.h"

namespace satrelay::ctl {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

int capture(const std::filesystem::path& socket, const CaptureOptions& options) {
  CaptureSession session(socket, options.wish);
  // Open the file only now: if this capture is refused, the file of an earlier capture remains.
  std::ofstream file;
  if (options.file != "-") {
    file.open(options.file, std::ios::binary | std::ios::trunc);
    if (!file) throw std::runtime_error(options.file + ": " + std::strerror(errno));
  }
  std::ostream& out = options.file == "-" ? std::cout : file;
  heed_interruptions();
  const bool shows_progress = ::isatty(STDERR_FILENO) == 1;
  auto next_word = Clock::now() + std::chrono::seconds(1);
  const CaptureCount count = session.write_to(out, [&](std::uint64_t packets) {
    if (shows_progress && Clock::now() >= next_word) {
      std::cerr << '\r' << packets << " packets" << std::flush;
      next_word = Clock::now() + std::chrono::seconds(1);
    }
    return !is_interrupted();
  });
  if (shows_progress) std::cerr << '\r';
  out.flush();
  if (!out) throw std::runtime_error(options.file + ": not all could be written");
  std::cerr << count.packets << " packets written";
  if (count.lost != 0) std::cerr << ", " << count.lost << " lost for lack of room";
  std::cerr << '\n';
  return 0;
}

}  // namespace satrelay::ctl
