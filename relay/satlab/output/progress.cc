#include "relay/satlab/output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

namespace satrelay::satlab {
namespace {

volatile std::sig_atomic_t raised = 0;

constexpr std::chrono::milliseconds kRedraw(200);
constexpr std::chrono::seconds kLine(10);
constexpr int kWidth = 30;

std::string seconds(double value) { return fmt::format("{:.{}f} s", value, value < 10 ? 1 : 0); }

}  // namespace

void StopSignal::install() {
  struct sigaction action {};
  action.sa_handler = [](int) { raised = 1; };
  sigemptyset(&action.sa_mask);
  // A second signal ends the program at once.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool StopSignal::is_raised() { return raised != 0; }

Progress::Progress(std::string what, Verbosity verbosity)
    : what_(std::move(what)),
      quiet_(verbosity == Verbosity::kQuiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      last_(begin_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(double share, const std::string& text) {
  const auto now = Clock::now();
  if (quiet_ || now - last_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLine))) {
    return;
  }
  last_ = now;
  share = std::clamp(share, 0.0, 1.0);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const std::string left = share > 0 ? seconds(elapsed / share - elapsed) + " left" : "";
  if (!terminal_) {
    fmt::print(stderr, "{}: {:.0f}%, {}, {}\n", what_, share * 100, text, left);
    return;
  }
  const auto done = static_cast<std::size_t>(share * kWidth);
  const std::string bar = std::string(done, '#') + std::string(kWidth - done, '.');
  fmt::print(stderr, "\r\033[K{} [{}] {:3.0f}%  {}  {}", what_, bar, share * 100, text, left);
  std::fflush(stderr);
  drawn_ = true;
}

bool RunProgress::on_progress(Duration at, Duration duration) {
  progress_.show(at.to_seconds() / duration.to_seconds(),
                 seconds(at.to_seconds()) + " of " + seconds(duration.to_seconds()));
  return !StopSignal::is_raised();
}

}  // namespace satrelay::satlab
