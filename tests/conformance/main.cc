// conformance: plays packet scripts on the pure TCP endpoint and on this machine's kernel.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/conformance/parser.h"
#include "tests/conformance/runners.h"

namespace satrelay::conformance {
namespace {

constexpr int kSkipStatus = 77;

struct Options {
  std::string runner = "both";
  std::string scripts;
  std::string filter;
  bool verbose = false;
};

int run(const Options& options) {
  const std::vector<Script> scripts = load_scripts(options.scripts, options.filter);
  if (scripts.empty()) {
    std::fprintf(stderr, "no script matches '%s'\n", options.filter.c_str());
    return 2;
  }
  std::vector<Row> rows;
  rows.reserve(scripts.size());
  for (const Script& script : scripts) rows.push_back({&script, {}, {}});

  if (options.runner != "kernel") run_on_endpoint(rows);
  if (options.runner != "endpoint") {
    const std::string reason = run_on_kernel(rows);
    if (!reason.empty()) std::printf("kernel: %s\n", reason.c_str());
    if (!reason.empty() && options.runner == "kernel") return kSkipStatus;
  }
  print_table(rows);
  options.verbose ? print_ladders(rows) : print_failures(rows);
  print_summary(rows);
  // "xml:FILE", as for GoogleTest's programs.
  const char* output = std::getenv("GTEST_OUTPUT");
  if (output != nullptr && std::string(output).rfind("xml:", 0) == 0) {
    write_xml(rows, std::string(output).substr(4));
  }
  return any_failure(rows) ? 1 : 0;
}

}  // namespace
}  // namespace satrelay::conformance

int main(int argc, char** argv) {
  satrelay::conformance::Options options;
  options.scripts = SATRELAY_CONFORMANCE_SCRIPTS;
  CLI::App app("Plays packet scripts on the TCP endpoint and on this machine's kernel.");
  app.add_option("--runner", options.runner, "endpoint, kernel or both")
      ->check(CLI::IsMember({"endpoint", "kernel", "both"}))
      ->capture_default_str();
  app.add_option("--scripts", options.scripts, "the folder of the scripts")->capture_default_str();
  app.add_flag("--verbose", options.verbose, "print every ladder as it was played");
  app.add_option("FILTER", options.filter, "only scripts whose TOPIC/NAME contains this");
  CLI11_PARSE(app, argc, argv);
  try {
    return satrelay::conformance::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
