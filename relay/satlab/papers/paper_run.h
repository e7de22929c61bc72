// Runs the cases of a paper with several seeds, on several threads. Keeps the worst figure of each
// row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "relay/satlab/papers/paper.h"

namespace satrelay::satlab {

struct RowResult {
  RowSpec spec;
  std::optional<double> ours;  // nullopt if the figure could not be measured
  std::optional<bool> met;     // nullopt if the row has no target
  // The figure under the same conditions with another rate controller, if one was requested.
  std::optional<double> with_controller = std::nullopt;
};

struct PaperResult {
  // Congestion control of the hosts in all cases, as congestion_of() returns it.
  std::string congestion;
  std::vector<RowResult> rows;
  bool interrupted = false;
  bool all_met() const;
};

// Returns the worst of several figures. Returns nullopt if there are none, or if any was not
// measured.
std::optional<double> worst(const std::vector<double>& figures, Better better);
// Returns whether `figure` meets the row's target, or nullopt if the row has no target. A figure
// that was not measured misses the target.
std::optional<bool> meets(const RowSpec& row, std::optional<double> figure);

struct PaperRun {
  std::size_t seeds = 3;  // number of seeds; the seeds are 1, 2, 3, ...
  std::size_t jobs = 1;
  config::Controller controller = config::Controller::kFixedRate;
};

// Receives the progress of the runs. Each run's thread calls on_progress() after each sample, but
// only one thread at a time.
class PaperObserver {
 public:
  virtual ~PaperObserver() = default;
  // `share` is the completed fraction of the virtual time of all runs. Return false to end all
  // runs.
  virtual bool on_progress(double share, const std::string& what) = 0;
};

// If run_experiment() throws an exception in a thread, this function throws it again after all
// threads have ended.
PaperResult run_paper(const Paper& paper, const PaperRun& run, PaperObserver* observer = nullptr);

}  // namespace satrelay::satlab
