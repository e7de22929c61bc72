#include "relay/satlab/papers/paper_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <vector>

#include "relay/satlab/output/output_file.h"
#include "relay/satlab/output/progress.h"
#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_report.h"
#include "relay/satlab/papers/paper_run.h"

namespace satrelay::satlab {
namespace {

class PaperProgress final : public PaperObserver {
 public:
  PaperProgress(const std::string& what, Verbosity verbosity) : progress_(what, verbosity) {}
  bool on_progress(double share, const std::string& what) override {
    progress_.show(share, what);
    return !StopSignal::is_raised();
  }

 private:
  Progress progress_;
};

// Keeps only the case named `text`. If there is none, keeps all cases with names that contain
// `text`.
void keep(std::vector<Case>& cases, const std::string& text) {
  const bool exact = std::ranges::find(cases, text, &Case::name) != cases.end();
  std::erase_if(cases, [&](const Case& one) {
    return exact ? one.name != text : one.name.find(text) == std::string::npos;
  });
}

config::Controller controller_named(const std::string& name) {
  using config::Controller;
  for (const Controller one : {Controller::kHpfp, Controller::kTps, Controller::kStp}) {
    if (name == config::to_string(one)) return one;
  }
  throw std::invalid_argument("there is no controller \"" + name + "\"");
}

}  // namespace

int paper_command(const PaperOptions& options) {
  Paper chosen = paper(options.paper, options.short_runs ? Length::kShort : Length::kFull);
  keep(chosen.cases, options.only);
  if (chosen.cases.empty()) {
    fmt::print(stderr, "satlab: {} has no case with \"{}\" in its name; see --list\n",
               options.paper, options.only);
    return 2;
  }
  if (options.list) {
    std::fputs(paper_list(chosen).c_str(), stdout);
    return 0;
  }
  std::optional<OutputFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  StopSignal::install();
  PaperResult result;
  {
    PaperProgress progress(chosen.name, options.quiet ? Verbosity::kQuiet : Verbosity::kNormal);
    PaperRun run{.seeds = options.seeds, .jobs = options.jobs};
    result = run_paper(chosen, run, &progress);
    if (!options.controller.empty() && !result.interrupted) {
      run.controller = controller_named(options.controller);
      const PaperResult other = run_paper(chosen, run, &progress);
      for (std::size_t i = 0; i < result.rows.size(); ++i) {
        result.rows[i].with_controller = other.rows[i].ours;
      }
      result.interrupted = other.interrupted;
    }
  }
  if (!options.quiet) std::fputs(paper_table(chosen, result, options.controller).c_str(), stdout);
  if (json) {
    json->write(paper_json(chosen, result, options.controller).dump(2) + "\n");
    json->commit();
  }
  if (result.interrupted) return StopSignal::kExitStatus;
  return result.all_met() ? 0 : 1;
}

}  // namespace satrelay::satlab
