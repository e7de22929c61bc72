// `satrelayctl init`: asks for all that two gateways need, and writes their files.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace satrelay::ctl::init {

struct Options {
  std::string answers;  // a file of answers; empty: the program asks on the terminal
  bool prints_answers = false;
  std::string folder;  // empty if --folder is not given
  bool replaces = false;
  double look = 3;  // seconds for which the program looks at the traffic of the ports
};

// Adds the options to the command. Returns the options that take a path.
std::vector<CLI::Option*> add_options(CLI::App& command, Options& options);

// Returns the exit status: 0 if the files are there, 1 if the user has declined, 2 for a mistake in
// the answers or without a terminal, 130 after Ctrl-C. In all cases but the first nothing was
// written. Throws std::runtime_error if the files cannot be written.
int run(const Options& options);

}  // namespace satrelay::ctl::init
