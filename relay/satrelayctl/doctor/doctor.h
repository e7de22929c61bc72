// `satrelayctl doctor`: looks for the faults that occur in the field, and names cause and cure of
// each.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

namespace satrelay::ctl::doctor {

struct Options {
  std::string file;  // the configuration; empty: /etc/satrelay/gateway.yaml, if it fits the gateway
  bool json = false;
};

// Adds the option -c to the command, and returns it.
CLI::Option* add_options(CLI::App& command, Options& options);

// `named_socket` returns the stats socket that the command line names, or else that of the only
// gateway; it throws StatsError. Returns the exit status: 0 without findings of severity error, 1
// with some, 2 if there is neither a gateway nor a file.
int run(const Options& options, const std::function<std::filesystem::path()>& named_socket);

}  // namespace satrelay::ctl::doctor
