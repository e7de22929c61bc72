// satlab: a satellite link, two gateways and their hosts in virtual time.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "config/error.h"
#include "relay/satlab/run_command.h"

int main(int argc, char** argv) {
  namespace lab = satrelay::satlab;
  CLI::App app("A satellite link, two gateways and their hosts, in virtual time.", "satlab");
  app.require_subcommand(1);
  lab::RunOptions run;
  CLI::App* run_app = app.add_subcommand("run", "Runs a scenario and measures it");
  run_app->add_option("SCENARIO", run.scenario, "A scenario, as in config/satlab/*.yaml")
      ->required();
  run_app->add_option("--seed", run.seed, "Instead of the seed in the scenario");
  run_app->add_option("--json", run.json, "Write the figures as JSON")->type_name("FILE");
  run_app->add_option("--csv", run.csv, "Write the time series")->type_name("FILE");
  run_app->add_option("--plot", run.plot, "Draw the time series: a name that ends in .svg or .png")
      ->type_name("FILE");
  run_app->add_flag("--quiet", run.quiet, "Neither table nor progress");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // 2 for a wrong command line, as for a wrong scenario.
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return lab::run_command(run);
  } catch (const satrelay::config::ConfigError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "satlab: " << error.what() << '\n';
    return 1;
  }
}
