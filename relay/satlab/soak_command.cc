#include "relay/satlab/soak_command.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "relay/satlab/output/output_file.h"
#include "relay/satlab/output/progress.h"
#include "relay/satlab/soak.h"
#include "relay/sim/hosts/churn.h"
#include "relay/sim/scenarios/describe.h"
#include "relay/sim/scenarios/profile.h"

namespace satrelay::satlab {
namespace {

// Only the first failures are simplified, each with a limited number of runs. So the user does not
// wait long for the report of these failures.
constexpr std::size_t kMostMinimised = 3;
constexpr std::size_t kMostRuns = 500;

ScenarioName name_of(const SoakOptions& options, std::uint64_t seed) {
  // The command line accepts only known names, so the default is never used.
  const auto profile = sim::parse_profile(options.profile).value_or(sim::Profile::kUsual);
  return {.profile = profile, .seed = seed, .workers = options.workers, .images = options.images};
}

struct SoakResult {
  std::uint64_t run = 0;
  std::vector<SoakFailure> failures;
  bool interrupted = false;
};

SoakResult soak(const SoakOptions& options) {
  SoakResult result;
  Progress progress("soak", options.quiet ? Verbosity::kQuiet : Verbosity::kNormal);
  for (; result.run < options.seeds && !result.interrupted; ++result.run) {
    const std::uint64_t seed = options.first + result.run;
    progress.show(
        static_cast<double>(result.run) / static_cast<double>(options.seeds),
        "seed " + std::to_string(seed) + ", " + std::to_string(result.failures.size()) + " failed");
    const ScenarioName name = name_of(options, seed);
    const sim::Scenario scenario = scenario_of(name);
    const std::vector<std::string> broken = run_apart(name, scenario, Diagnostics::kShown);
    if (StopSignal::is_raised()) {
      result.interrupted = true;
      break;
    }
    if (broken.empty()) continue;
    const bool minimised = result.failures.size() < kMostMinimised;
    result.failures.push_back(minimise_failure(name, scenario, broken, minimised ? kMostRuns : 0));
    std::fputs(minimised ? failure_text(result.failures.back()).c_str()
                         : ("seed " + std::to_string(seed) + " fails: " + broken[0] + "\n").c_str(),
               stdout);
    std::fflush(stdout);
  }
  return result;
}

nlohmann::ordered_json to_json(const SoakOptions& options, const SoakResult& result) {
  nlohmann::ordered_json json;
  json["profile"] = options.profile;
  if (options.workers > 0) json["workers"] = options.workers;
  if (options.images > 0) json["images"] = options.images;
  json["first"] = std::to_string(options.first);  // a seed identifies a run, so it is a string
  json["seeds"] = result.run;
  json["interrupted"] = result.interrupted;
  json["failures"] = nlohmann::ordered_json::array();
  for (const SoakFailure& failure : result.failures) {
    json["failures"].push_back({{"seed", std::to_string(failure.which.seed)},
                                {"broken", failure.broken},
                                {"command", soak_command_for(failure)},
                                {"schedule", sim::describe(failure.scenario)},
                                {"schedule_breaks", failure.broken_still}});
  }
  return json;
}

// Runs one scenario in this process, for debuggers and traces.
int run_one(std::uint64_t seed, const SoakOptions& options) {
  const auto steps = sim::parse_reductions(options.without);
  if (!steps) {
    fmt::print(stderr, "satlab: --without: \"{}\" is not a list of reductions\n", options.without);
    return 2;
  }
  const ScenarioName name = name_of(options, seed);
  sim::Scenario scenario = scenario_of(name);
  for (const sim::Reduction& step : *steps) {
    if (sim::apply(step, scenario)) continue;
    fmt::print(stderr, "satlab: --without: {} does not apply to seed {}\n", sim::to_string({step}),
               seed);
    return 2;
  }
  if (!options.quiet) std::fputs(sim::describe(scenario).c_str(), stdout);
  const std::vector<std::string> broken =
      run_here(name, scenario, options.trace ? Frames::kTraced : Frames::kSilent);
  for (const std::string& line : broken) fmt::print("broken: {}\n", line);
  if (broken.empty() && !options.quiet) std::puts("all promises kept");
  return broken.empty() ? 0 : 1;
}

double seconds_of_processor() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

int churn(const SoakOptions& options) {
  StopSignal::install();
  Progress progress("churn", options.quiet ? Verbosity::kQuiet : Verbosity::kNormal);
  const sim::ChurnReport report =
      sim::run_churn(options.seed.value_or(1), options.churn, [&](std::uint64_t over) {
        progress.show(static_cast<double>(over) / static_cast<double>(options.churn),
                      std::to_string(over) + " connections");
        return !StopSignal::is_raised();
      });
  for (const std::string& line : report.broken) fmt::print("broken: {}\n", line);
  if (!options.quiet) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double seconds = seconds_of_processor();
    fmt::print(
        "{} connections in {:.0f} s of virtual time and {:.1f} s of the processor: {:.0f} a "
        "second\n"
        "at a time at most {} flows and {} KiB in a gateway; memory of the process {} MiB\n",
        report.flows, report.virtual_time.to_seconds(), seconds,
        static_cast<double>(report.flows) / seconds, report.most_in_a_table,
        report.most_arena >> 10U, usage.ru_maxrss >> 10);
  }
  if (StopSignal::is_raised()) return StopSignal::kExitStatus;
  return report.broken.empty() ? 0 : 1;
}

}  // namespace

int soak_command(const SoakOptions& options) {
  if (options.churn > 0) return churn(options);
  if (options.seed && (options.trace || !options.without.empty())) {
    return run_one(*options.seed, options);
  }
  SoakOptions chosen = options;
  if (options.seed) {
    chosen.first = *options.seed;
    chosen.seeds = 1;
  } else if (options.trace || !options.without.empty()) {
    std::fputs("satlab: --trace and --without need --seed\n", stderr);
    return 2;
  }
  std::optional<OutputFile> json;
  if (!options.json.empty()) json.emplace(options.json);
  StopSignal::install();
  const SoakResult result = soak(chosen);
  if (!options.quiet) {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    fmt::print("{} seeds from {}, {} failed, {:.1f} s of the processor\n", result.run, chosen.first,
               result.failures.size(), seconds(usage.ru_utime) + seconds(usage.ru_stime));
  }
  if (json) {
    json->write(to_json(chosen, result).dump(2) + "\n");
    json->commit();
  }
  if (result.interrupted) return StopSignal::kExitStatus;
  return result.failures.empty() ? 0 : 1;
}

}  // namespace satrelay::satlab
