// satlab: a satellite link, two gateways and their hosts in virtual time.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "config/text/error.h"
#include "relay/satlab/papers/paper.h"
#include "relay/satlab/papers/paper_command.h"
#include "relay/satlab/run_command.h"
#include "relay/satlab/soak_command.h"
#include "relay/version/version.h"

int main(int argc, char** argv) {
  namespace lab = satrelay::satlab;
  CLI::App app("A satellite link, two gateways and their hosts, in virtual time.", "satlab");
  app.set_version_flag("--version", "satlab " + satrelay::version_and_commit());
  app.require_subcommand(1);
  lab::RunOptions run;
  CLI::App* run_app = app.add_subcommand("run", "Runs a scenario and measures it");
  run_app->add_option("SCENARIO", run.scenario, "A scenario, as in config/satlab/*.yaml")
      ->type_name("")
      ->required();
  run_app->add_option("--seed", run.seed, "Instead of the seed in the scenario")->type_name("N");
  run_app->add_option("--json", run.json, "Write the figures as JSON")->type_name("FILE");
  run_app->add_option("--csv", run.csv, "Write the time series")->type_name("FILE");
  run_app->add_option("--plot", run.plot, "Draw the time series: a name that ends in .svg or .png")
      ->type_name("FILE");
  run_app->add_flag("--quiet", run.quiet, "Neither table nor progress");
  lab::PaperOptions paper;
  CLI::App* paper_app =
      app.add_subcommand("paper", "Sets up the experiments of a paper and compares");
  paper_app->add_option("NAME", paper.paper, "The paper, by the name of its protocol or subject")
      ->required()
      ->check(CLI::IsMember(lab::paper_names()));
  paper_app->add_option("--case", paper.only, "Only the cases with this text in their name");
  paper_app
      ->add_option("--seeds", paper.seeds,
                   "Runs each case with seeds 1 to N, and the worst counts; default 3")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  paper_app
      ->add_option("--jobs", paper.jobs,
                   "Runs at the same time, each with its own memory; default 1")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  paper_app
      ->add_option("--controller", paper.controller,
                   "The same rows with this rate controller too, as a column of its own")
      ->check(CLI::IsMember({"hpfp", "tps", "stp"}));
  paper_app->add_option("--json", paper.json, "Write the rows as JSON")->type_name("FILE");
  paper_app->add_flag("--list", paper.list, "Only list the cases and their targets");
  paper_app->add_flag("--short", paper.short_runs, "hpfp: leave out the runs that take 85 s");
  paper_app->add_flag("--quiet", paper.quiet, "Neither table nor progress");
  lab::SoakOptions soak;
  CLI::App* soak_app = app.add_subcommand(
      "soak", "Runs random scenarios with random faults and checks what must always hold");
  soak_app->add_option("--profile", soak.profile, "The kind of faults to look for; default usual")
      ->check(
          CLI::IsMember({"usual", "memory", "hostile-peer", "hostile-lan", "mixed", "workers"}));
  soak_app
      ->add_option("--workers", soak.workers,
                   "Workers of both gateways; by default as the profile has them")
      ->check(CLI::IsMember({1, 2, 4, 8}));
  soak_app
      ->add_option("--seeds", soak.seeds, "Number of scenarios, each with its seed; default 1000")
      ->type_name("N");
  soak_app->add_option("--first", soak.first, "The first seed; default 1")->type_name("N");
  soak_app->add_option("--seed", soak.seed, "Only the scenario with this seed")->type_name("N");
  soak_app
      ->add_option("--without", soak.without,
                   "With --seed: the parts to leave out, as the report of a failure lists them")
      ->type_name("PARTS");
  soak_app
      ->add_option("--images", soak.images,
                   "Before every N-th call of a gateway: write one of its flows as an image, and "
                   "read it back")
      ->type_name("N");
  soak_app->add_flag("--trace", soak.trace, "With --seed: print every frame");
  soak_app
      ->add_option(
          "--churn", soak.churn,
          "Instead: run so many short connections, and check that none leaves anything behind")
      ->type_name("N");
  soak_app->add_option("--json", soak.json, "Write what failed as JSON")->type_name("FILE");
  soak_app->add_flag("--quiet", soak.quiet, "Only failures");
  // The commands would inherit a footer that is set before them.
  app.footer(
      "Examples:\n"
      "  satlab run config/satlab/geo-bulk.yaml --plot geo-bulk.svg\n"
      "  satlab paper hpfp --list\n"
      "  satlab soak --seeds 100\n"
      "  satlab soak --seed 17 --trace");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // A wrong command line gives the same exit status as a wrong scenario: 2.
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (soak_app->parsed()) return lab::soak_command(soak);
    return paper_app->parsed() ? lab::paper_command(paper) : lab::run_command(run);
  } catch (const satrelay::config::ConfigError& error) {
    std::cerr << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "satlab: " << error.what() << '\n';
    return 1;
  }
}
