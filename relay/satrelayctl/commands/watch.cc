#include "relay/satrelayctl/commands/watch.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>

#include "relay/client/stats_client.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/views/screen.h"
#include "relay/text/table.h"

namespace satrelay::ctl {
namespace {

std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &parts);
  return text;
}

int watch_on_screen(const WatchOptions& options,
                    const std::function<std::string(std::size_t width)>& look) {
  const auto width = [&] { return options.wide ? text::kAnyWidth : Screen::size().columns; };
  std::string shown = look(width());
  std::string state;
  const Screen screen;
  do {
    try {
      shown = look(width());
      state = clock_time();
    } catch (const StatsError& error) {
      // Keep the last listing on the screen below the error, since the user may need it to find the
      // cause.
      state = std::string(error.what()) + "; trying again";
    }
    Screen::show(first_lines(options.title + "  " + state + "\n\n" + shown, Screen::size().rows));
  } while (!screen.quits_within(options.seconds));
  return 0;
}

int watch_on_pipe(const WatchOptions& options,
                  const std::function<std::string(std::size_t width)>& look) {
  std::cout << look(text::kAnyWidth) << std::flush;
  bool is_gone = false;
  const std::chrono::milliseconds between(static_cast<int>(options.seconds * 1000));
  while (std::cout && waits(between)) {
    try {
      std::cout << look(text::kAnyWidth) << std::flush;
      is_gone = false;
    } catch (const StatsError& error) {
      if (!is_gone) std::cerr << "satrelayctl: " << error.what() << "; trying again\n";
      is_gone = true;
    }
  }
  return std::cout ? 0 : 1;
}

}  // namespace

int watch(const WatchOptions& options, const std::function<std::string(std::size_t width)>& look) {
  heed_interruptions();
  return ::isatty(STDOUT_FILENO) == 0 ? watch_on_pipe(options, look)
                                      : watch_on_screen(options, look);
}

std::string first_lines(const std::string& text, std::size_t most) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  if (lines <= most) return text;
  std::size_t end = 0;
  for (std::size_t i = 1; i < most; ++i) end = text.find('\n', end) + 1;
  return text.substr(0, end) + "and " + std::to_string(lines - most + 1) + " more lines\n";
}

}  // namespace satrelay::ctl
