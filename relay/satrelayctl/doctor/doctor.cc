#include "relay/satrelayctl/doctor/doctor.h"

#include <algorithm>
#include <iostream>
#include <system_error>

#include "config/outline/read_outline.h"
#include "config/text/error.h"
#include "relay/client/socket_search.h"
#include "relay/client/stats_client.h"
#include "relay/doctor/judgements.h"
#include "relay/doctor/read_facts.h"
#include "relay/satrelayctl/doctor/report.h"
#include "relay/satrelayctl/support/tech_support.h"
#include "relay/satrelayctl/views/screen.h"

namespace satrelay::ctl::doctor {
namespace {

constexpr int kFound = 1;
constexpr int kNothingToJudge = 2;

// The usual file, if it exists and is the file of the gateway at `socket`, or no gateway runs.
std::string usual_file(const std::filesystem::path& socket) {
  std::error_code error;
  if (!std::filesystem::exists(kUsualConfiguration, error)) return "";
  if (socket.empty()) return kUsualConfiguration;
  try {
    const config::Outline outline = config::load_outline(kUsualConfiguration);
    const bool fits = socket.parent_path().filename() == outline.stats_socket_prefix;
    return fits ? kUsualConfiguration : "";
  } catch (const config::ConfigError&) {
    return "";
  }
}

Facts facts_of(const Options& options, const std::function<std::filesystem::path()>& named_socket) {
  if (!options.file.empty()) {
    return read_facts(options.file, [&](const std::string& prefix) {
      return prefix.empty() ? named_socket() : choose_stats_socket(prefix, runtime_folders());
    });
  }
  std::filesystem::path socket;
  std::string trouble;
  try {
    socket = named_socket();
  } catch (const StatsError& error) {
    trouble = error.what();
  }
  return read_facts(usual_file(socket), [&](const std::string&) {
    if (socket.empty()) throw StatsError(trouble);
    return socket;
  });
}

}  // namespace

CLI::Option* add_options(CLI::App& command, Options& options) {
  return command
      .add_option("-c,--config", options.file,
                  "The gateway.yaml of the gateway, which need not run yet; without it, the usual "
                  "file if it is that of the gateway")
      ->check(CLI::Validator(CLI::ExistingFile).description(""))
      ->type_name("FILE");
}

int run(const Options& options, const std::function<std::filesystem::path()>& named_socket) {
  const Facts facts = facts_of(options, named_socket);
  if (!facts.gateway && facts.file.path.empty()) {
    std::cerr << "satrelayctl: " << facts.gateway_trouble
              << "\nFor a gateway that does not run yet, name its file: satrelayctl doctor -c "
                 "FILE\n";
    return kNothingToJudge;
  }
  const machine::Findings findings = judge(facts);
  std::cout << (options.json ? findings_json(findings, facts)
                             : findings_text(findings, facts, output_width()))
            << std::flush;
  const bool has_error = std::ranges::find(findings, ops::Severity::kError,
                                           &machine::Finding::severity) != findings.end();
  return has_error || !std::cout ? kFound : 0;
}

}  // namespace satrelay::ctl::doctor
