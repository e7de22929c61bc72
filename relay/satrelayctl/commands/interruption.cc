#include "relay/satrelayctl/commands/interruption.h"

#include <poll.h>

#include <algorithm>
#include <csignal>

namespace satrelay::ctl {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int) { interrupted = 1; }

}  // namespace

void heed_interruptions() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, interrupt);
}

bool is_interrupted() { return interrupted != 0; }

bool waits(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  // Wait in pieces, since a signal that arrives just before poll() does not end poll().
  constexpr std::chrono::milliseconds kPiece(100);
  const auto end = Clock::now() + time;
  while (interrupted == 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return true;
    ::poll(nullptr, 0, static_cast<int>(std::min(left, kPiece).count()));
  }
  return false;
}

}  // namespace satrelay::ctl
