#include "relay/satrelayd/startup/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "config/keys/all_keys.h"
#include "relay/version/version.h"

namespace satrelay::satrelayd {

namespace {

constexpr const char* kFooter =
    "The log goes to standard error. SIGTERM and SIGINT stop the gateway in order: it tells hosts\n"
    "and peers. SIGHUP makes it read its configuration again.\n"
    "Under systemd satrelay-supervise runs the gateway (satrelayd@NAME.service).\n"
    "\n"
    "Examples:\n"
    "  satrelayd -c /etc/satrelay/gateway.yaml --check\n"
    "  satrelayd -c /etc/satrelay/gateway.yaml\n"
    "  satrelayd --keys stp";

int print_keys(const std::string& under) {
  const std::string table = config::key_table(config::gateway_key_list(), under);
  if (table.empty()) {
    std::cerr << "no key of gateway.yaml begins with " << under << "; --keys lists them all\n";
    return 2;
  }
  std::cout << table;
  return 0;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("A transparent gateway that carries TCP over a satellite link.", "satrelayd");
  Options options;
  app.add_option("-c,--config", options.file,
                 "The gateway.yaml of the gateway; --keys lists its keys")
      ->type_name("FILE");
  app.add_flag("--check", options.check,
               "Only validate the configuration, and warn of faults of the machine");
  app.add_flag(
      "--force", options.force,
      "Take an interface even if a bridge or a bond has it, which forwards its frames, too");
  std::string under;
  const CLI::Option* const keys =
      app.add_option("--keys", under,
                     "Print the keys of gateway.yaml, or those below PATH, like stp")
          ->type_name("[PATH]")
          ->expected(0, 1);
  app.set_version_flag("--version", "satrelayd " + version_and_commit());
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
    if (keys->count() == 0 && options.file.empty()) throw CLI::RequiredError("--config");
  } catch (const CLI::ParseError& error) {
    // satrelayd.service does not start a gateway with a wrong command line again.
    return {.options = std::nullopt, .exit = app.exit(error) == 0 ? 0 : 2};
  }
  if (keys->count() > 0) return {.options = std::nullopt, .exit = print_keys(under)};
  return {.options = options};
}

}  // namespace satrelay::satrelayd
