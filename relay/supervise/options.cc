#include "relay/supervise/options.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "relay/version/version.h"

namespace satrelay::supervise {
namespace {

constexpr const char* kFooter =
    "satrelay-supervise takes the two ports from the file. Whenever the gateway does not forward, "
    "a\n"
    "kernel bridge joins ports that are kernel interfaces (fail-to-wire, docs/guide.md).\n"
    "\n"
    "run: SIGTERM and SIGINT stop the gateway in order, and the ports stay joined. SIGHUP makes "
    "it\n"
    "read its configuration again. A gateway that dies or hangs is started again: after a second,\n"
    "then after two, up to 30 s. It is not started again if it ends with status 0 (SIGTERM, "
    "drain),\n"
    "2 (bad configuration) or 4 (it runs already). The exit status is that of the gateway.\n"
    "Under systemd (Type=notify) run also ends if the first start fails.\n"
    "SATRELAYD names the gateway's program, if it is neither beside this one nor in PATH.";

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  CLI::App app("Runs a gateway, and joins its ports while it does not run.", "satrelay-supervise");
  Options options;
  const auto add = [&](const char* name, const char* help, Action action) {
    CLI::App* const verb = app.add_subcommand(name, help);
    verb->add_option("-c,--config", options.file, "The gateway.yaml of the gateway")
        ->type_name("FILE");
    verb->add_option("PORTS", options.interfaces,
                     "LAN and WAN, as in older units: two kernel interfaces")
        ->type_name("")
        ->expected(2);
    verb->callback([&options, action] { options.action = action; });
    return verb;
  };
  add("run", "Run satrelayd, and start it again when it fails", Action::kRun)
      ->add_flag("--force", options.force, "As satrelayd --force");
  add("join", "Join the ports, unless a gateway uses them", Action::kJoin);
  add("part", "Take the ports back from the bridge", Action::kPart);
  app.require_subcommand(1);
  app.set_version_flag("--version", "satrelay-supervise " + version_and_commit());
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
    const bool needs_file = options.action == Action::kRun || options.interfaces.empty();
    if (options.file.empty() && needs_file) throw CLI::RequiredError("--config");
  } catch (const CLI::ParseError& error) {
    return {.options = std::nullopt, .exit = app.exit(error) == 0 ? 0 : 2};
  }
  return {.options = options};
}

}  // namespace satrelay::supervise
