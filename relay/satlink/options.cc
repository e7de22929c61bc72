#include "relay/satlink/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "config/keys/all_keys.h"
#include "relay/satlink/control_command.h"
#include "relay/version/version.h"

namespace satrelay::satlink {
namespace {

constexpr const char* kExamples =
    "\n"
    "The log goes to standard error. SIGTERM and SIGINT stop satlink in order.\n"
    "\n"
    "Examples:\n"
    "  satlink -c link.yaml --check\n"
    "  satlink -c link.yaml\n"
    "  satlink --keys both\n"
    "  satlink --control /run/satlink.sock set a_to_b rate 12Mbit";

int print_link_keys(const std::string& under) {
  const std::string table = config::key_table(config::link_key_list(), under);
  if (table.empty()) {
    std::cerr << "no key of link.yaml begins with " << under << "; --keys lists them all\n";
    return 2;
  }
  std::cout << table;
  return 0;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("A satellite link between two ports: rate, delay and faults.", "satlink");
  Options options;
  auto* config_option = app.add_option("-c,--config", options.file,
                                       "The link.yaml of the link; --keys lists its keys")
                            ->type_name("FILE");
  app.add_flag("--check", options.check, "Only validate the configuration")->needs(config_option);
  app.add_option("--control", options.control,
                 "Send COMMAND to the satlink with this control socket")
      ->type_name("PATH")
      ->excludes(config_option);
  app.add_option("COMMAND", options.words, "The command for --control; the list below has all")
      ->type_name("");
  std::string under;
  const CLI::Option* const keys =
      app.add_option("--keys", under, "Print the keys of link.yaml, or those below PATH, like both")
          ->type_name("[PATH]")
          ->expected(0, 1);
  app.set_version_flag("--version", "satlink " + version_and_commit());
  app.footer(
      std::string("Control socket: a command a line, answered with \"ok\", \"error: ...\" or "
                  "what was asked for:\n") +
      kControlHelp + kExamples);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return {.options = std::nullopt, .exit = app.exit(error) == 0 ? 0 : 2};
  }
  if (keys->count() > 0) return {.options = std::nullopt, .exit = print_link_keys(under)};
  if (options.control.empty() && (options.file.empty() || !options.words.empty())) {
    std::cerr << app.help();
    return {.options = std::nullopt, .exit = 2};
  }
  return {.options = options};
}

}  // namespace satrelay::satlink
