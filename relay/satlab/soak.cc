#include "relay/satlab/soak.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "relay/satlab/heap_probe.h"
#include "relay/sim/checks/checks.h"
#include "relay/sim/checks/flow_rewriter.h"
#include "relay/sim/checks/minimise.h"
#include "relay/sim/network/network.h"
#include "relay/sim/scenarios/describe.h"
#include "relay/sim/scenarios/workers_scenario.h"

namespace satrelay::satlab {
namespace {

// Separates the lines of a report. No line contains this character.
constexpr char kEndOfLine = '\0';
// Limit of a run's processor time, which does not depend on the load of the machine. A seed takes
// up to 3 s, and ten times as long with sanitizers.
constexpr rlim_t kMostSeconds = 120;
// Limit of a run's real time, since a process that waits forever uses no processor time.
constexpr unsigned kMostSecondsOfClock = 3600;
// Limits of the heap memory, outside the arena, that a gateway allocates after its start, in bytes.
constexpr std::int64_t kHeapOfAGateway = std::int64_t{16} << 20;
constexpr std::int64_t kHeapOfAFlow = 8 << 10;

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void run_in_child(const ScenarioName& name, const sim::Scenario& scenario,
                               Diagnostics diagnostics, int report) {
  if (diagnostics == Diagnostics::kHidden) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  }
  rlimit most{};
  getrlimit(RLIMIT_CPU, &most);
  most.rlim_cur = std::min(kMostSeconds, most.rlim_max);
  setrlimit(RLIMIT_CPU, &most);
  alarm(kMostSecondsOfClock);
  std::string text;
  for (const std::string& line : run_here(name, scenario, Frames::kSilent)) {
    text += line;
    text += kEndOfLine;
  }
  write_all(report, text);
  _exit(0);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find(kEndOfLine, at);
    lines.push_back(text.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return lines;
}

// Returns an error if a gateway allocated too much heap memory, otherwise "". Runs with restarts
// are not inspected: the memory of a killed gateway is freed outside the calls that the probe
// measures.
std::string inspect_heaps(const sim::Network& network, const std::array<HeapProbe, 2>& heaps) {
  const sim::Scenario& scenario = network.scenario();
  if (!scenario.restarts.empty()) return {};
  for (std::size_t i = 0; i < heaps.size(); ++i) {
    // Each lane is a session, which needs memory for its own error correction.
    const std::int64_t lanes = std::max(scenario.stations[0].workers, scenario.stations[1].workers);
    const std::int64_t most =
        kHeapOfAGateway * lanes + kHeapOfAFlow * std::int64_t{scenario.stations[i].limits.flows};
    if (heaps[i].most() > most) {
      return std::string("gateway ") + (i == 0 ? "a" : "b") + " took " +
             std::to_string(heaps[i].most()) + " bytes beside its arena";
    }
  }
  return {};
}

std::string indented(const std::string& text, const char* by) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += by + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

}  // namespace

sim::Scenario scenario_of(const ScenarioName& name) {
  sim::Scenario scenario = sim::random_scenario(name.profile, name.seed);
  if (name.workers > 0) sim::set_workers(scenario, name.workers);
  return scenario;
}

std::vector<std::string> run_here(const ScenarioName& name, const sim::Scenario& scenario,
                                  Frames frames) {
  sim::Tracer tracer;
  if (frames == Frames::kTraced) tracer.enable(stdout);
  sim::Network network(scenario, tracer);
  std::array<HeapProbe, 2> heaps;
  sim::FlowRewriter rewriter(name.images, name.seed);
  for (const sim::Side side : {sim::Side::kA, sim::Side::kB}) {
    if (name.images > 0) {
      network.gateway(side).set_probe(&rewriter);
    } else if (network.is_running(side)) {
      network.gateway(side).set_probe(&heaps[static_cast<std::size_t>(side)]);
    }
  }
  std::vector<std::string> broken = sim::run_and_check(
      network, {[&heaps](sim::Network& inspected) { return inspect_heaps(inspected, heaps); }});
  for (const std::string& line : sim::stop_and_check_frames(network)) broken.push_back(line);
  for (const std::string& line : rewriter.broken()) broken.push_back(line);
  return broken;
}

std::vector<std::string> run_apart(const ScenarioName& name, const sim::Scenario& scenario,
                                   Diagnostics diagnostics) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  }
  std::fflush(nullptr);  // otherwise the child would write our buffered output a second time
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) run_in_child(name, scenario, diagnostics, ends[1]);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(ends[0], buffer, sizeof buffer)) > 0 || (size < 0 && errno == EINTR)) {
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::vector<std::string> broken = lines_of(text);
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    broken.push_back(signal == SIGXCPU || signal == SIGALRM
                         ? "it does not end"
                         : std::string("it crashed: ") + strsignal(signal));
  } else if (WEXITSTATUS(status) != 0) {
    broken.push_back("it ended with status " + std::to_string(WEXITSTATUS(status)));
  }
  return broken;
}

SoakFailure minimise_failure(const ScenarioName& which, const sim::Scenario& scenario,
                             const std::vector<std::string>& broken, std::size_t most_runs) {
  SoakFailure failure{which, broken, {}, scenario, broken};
  // Accept only failures of the same kind: a different fault would lead to a different scenario.
  const std::string kind = sim::kind_of(broken.at(0));
  const auto fails = [&](const sim::Scenario& candidate) {
    std::vector<std::string> still = run_apart(which, candidate, Diagnostics::kHidden);
    const bool same = std::ranges::find(still, kind, sim::kind_of) != still.end();
    if (same) failure.broken_still = std::move(still);
    return same;
  };
  sim::Minimised found = sim::minimise(scenario, fails, most_runs);
  failure.steps = std::move(found.steps);
  failure.scenario = std::move(found.scenario);
  return failure;
}

std::string soak_command_for(const SoakFailure& failure) {
  std::string command = "satlab soak";
  if (failure.which.profile != sim::Profile::kUsual) {
    command += std::string(" --profile ") + sim::name_of(failure.which.profile);
  }
  if (failure.which.workers > 0) command += " --workers " + std::to_string(failure.which.workers);
  if (failure.which.images > 0) command += " --images " + std::to_string(failure.which.images);
  command += " --seed " + std::to_string(failure.which.seed);
  if (!failure.steps.empty()) command += " --without '" + sim::to_string(failure.steps) + "'";
  return command;
}

std::string failure_text(const SoakFailure& failure) {
  std::string text = "seed " + std::to_string(failure.which.seed) + " fails:\n";
  for (const std::string& line : failure.broken) text += indented(line, "  ");
  text += "the simplest schedule that does so:\n" + indented(sim::describe(failure.scenario), "  ");
  text += "it breaks:\n";
  for (const std::string& line : failure.broken_still) text += indented(line, "  ");
  return text + "to see it again, with --trace for every frame:\n  " + soak_command_for(failure) +
         "\n";
}

}  // namespace satrelay::satlab
