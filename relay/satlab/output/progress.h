// Shows the progress of a long run on stderr: a bar on a terminal, otherwise a line every ten
// seconds. Also notes a request to end the run (Ctrl-C, SIGTERM).
#pragma once

#include <chrono>
#include <string>

#include "relay/satlab/run.h"

namespace satrelay::satlab {

enum class Verbosity : std::uint8_t { kNormal, kQuiet };

class StopSignal {
 public:
  static void install();
  static bool is_raised();
  // The exit status of a program that ended because of the signal.
  static constexpr int kExitStatus = 130;
};

class Progress {
 public:
  Progress(std::string what, Verbosity verbosity);
  ~Progress();  // removes the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `share` is the completed fraction of the run, 0 to 1. `text` is shown beside the bar.
  void show(double share, const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_;
  Clock::time_point last_;
};

// Shows a run's progress, and ends the run when StopSignal is raised.
class RunProgress final : public Observer {
 public:
  RunProgress(const std::string& what, Verbosity verbosity) : progress_(what, verbosity) {}
  bool on_progress(Duration at, Duration duration) override;

 private:
  Progress progress_;
};

}  // namespace satrelay::satlab
