#include "relay/satrelayd/startup/options.h"

#include <CLI/CLI.hpp>

namespace satrelay::satrelayd {

std::string_view version() { return SATRELAY_VERSION; }

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("satrelayd: a transparent gateway that carries TCP over a satellite link");
  Options options;
  app.add_option("-c,--config", options.file, "gateway.yaml (docs/configuration.md lists its keys)")
      ->required();
  app.add_flag("--check", options.check, "only validate the configuration");
  app.set_version_flag("--version", std::string(version()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {.options = std::nullopt, .exit = app.exit(error)};
  }
  return {.options = options};
}

}  // namespace satrelay::satrelayd
