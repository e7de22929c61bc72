#include "relay/satlink/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "relay/satlink/control_command.h"
#include "relay/version/version.h"

namespace satrelay::satlink {

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("satlink: a satellite link between two ports: rate, delay and faults");
  Options options;
  auto* config_option = app.add_option("-c,--config", options.file, "link.yaml");
  app.add_flag("--check", options.check, "only say whether the configuration is good")
      ->needs(config_option);
  app.add_option("--control", options.control,
                 "send COMMAND to the satlink with this control socket")
      ->excludes(config_option);
  app.add_option("COMMAND", options.words, "for --control, as below");
  app.set_version_flag("--version", "satlink " + version_and_commit());
  app.footer(
      std::string("Control socket: a command a line, answered with \"ok\", \"error: ...\" or "
                  "what was asked for:\n") +
      kControlHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {.options = std::nullopt, .exit = app.exit(error) == 0 ? 0 : 2};
  }
  if (options.control.empty() && (options.file.empty() || !options.words.empty())) {
    std::cerr << app.help();
    return {.options = std::nullopt, .exit = 2};
  }
  return {.options = options};
}

}  // namespace satrelay::satlink
