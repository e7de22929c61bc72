// Runs the cases of a paper with several seeds, on several threads, and keeps the worst figure.
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
  std::optional<double> ours;  // nullopt: could not be measured
  std::optional<bool> met;     // nullopt: for information
  // The figure under the same conditions with another rate controller, if one was requested.
  std::optional<double> with_controller = std::nullopt;
};

struct PaperResult {
  std::string congestion;  // of the hosts in all its cases, as congestion_of() names it
  std::vector<RowResult> rows;
  bool interrupted = false;
  bool all_met() const;
};

// The worst of several figures; nullopt if there are none, or if one was not measured.
std::optional<double> worst(const std::vector<double>& figures, Better better);
// Whether a figure reaches the row's target. An unmeasured figure does not. nullopt if there is no
// target.
std::optional<bool> meets(const RowSpec& row, std::optional<double> figure);

struct PaperRun {
  std::size_t seeds = 3;  // 1, 2, 3, ...
  std::size_t jobs = 1;
  config::Controller controller = config::Controller::kFixedRate;
};

// Called after each sample of each run, by the thread of that run. Calls do not overlap.
class PaperObserver {
 public:
  virtual ~PaperObserver() = default;
  // `share`: the part of all virtual time that is done. Returns false to end all runs.
  virtual bool on_progress(double share, const std::string& what) = 0;
};

// Throws what run_experiment() throws, after all threads have ended.
PaperResult run_paper(const Paper& paper, const PaperRun& run, PaperObserver* observer = nullptr);

}  // namespace satrelay::satlab
