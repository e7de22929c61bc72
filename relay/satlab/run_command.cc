#include "relay/satlab/run_command.h"

#include <cstdio>
#include <filesystem>
#include <optional>

#include "relay/satlab/output/output_file.h"
#include "relay/satlab/output/plot.h"
#include "relay/satlab/output/progress.h"
#include "relay/satlab/output/report.h"
#include "relay/satlab/run.h"
#include "relay/satlab/scenario_file.h"

namespace satrelay::satlab {
namespace {

// Opens an output file before the run, so that an error is found early.
std::optional<OutputFile> open_output(const std::string& file) {
  if (file.empty()) return std::nullopt;
  return std::optional<OutputFile>(std::in_place, file);
}

void finish(std::optional<OutputFile>& file, const std::string& text) {
  if (!file) return;
  file->write(text);
  file->commit();
}

}  // namespace

int run_command(const RunOptions& options) {
  const Experiment experiment = load_scenario(options.scenario, options.seed);
  std::string terminal;
  std::filesystem::path gnuplot;
  if (!options.plot.empty()) {
    terminal = plot_terminal(options.plot);
    gnuplot = find_gnuplot();
  }
  auto json = open_output(options.json);
  auto csv = open_output(options.csv);
  auto plot = open_output(options.plot);

  const Verbosity verbosity = options.quiet ? Verbosity::kQuiet : Verbosity::kNormal;
  StopSignal::install();
  RunResult result;
  {
    RunProgress progress(experiment.name, verbosity);
    result = run_experiment(experiment, &progress);
  }
  if (!options.quiet) std::fputs(report_table(result).c_str(), stdout);
  if (json) finish(json, report_json(result).dump(2) + "\n");
  if (csv) finish(csv, report_csv(result));
  if (plot) {
    draw_plot(gnuplot, plot_script(result, terminal, plot->temporary()));
    plot->commit();
  }
  if (result.interrupted) return StopSignal::kExitStatus;
  return result.failed() ? 1 : 0;
}

}  // namespace satrelay::satlab
