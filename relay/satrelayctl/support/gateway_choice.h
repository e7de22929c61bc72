// The gateway that the command line names.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "relay/satrelayctl/commands/control.h"

namespace satrelay::ctl {

class GatewayChoice {
 public:
  // Adds --socket and --config. Returns them, as both take a file.
  std::vector<CLI::Option*> add_options(CLI::App& app);
  // Adds --control-socket.
  CLI::Option* add_control_option(CLI::App& command);

  // True if the command line names a stats socket or a file.
  bool is_named() const { return !socket_.empty(); }
  // The file that the command line names; empty if it names none.
  const std::string& file() const { return file_; }
  // Both throw StatsError if there is no such gateway, or if several run and none is named.
  std::filesystem::path stats_socket() const;
  ControlTarget target() const;

 private:
  void use_sockets_of(const std::string& file);

  std::string file_;
  std::string socket_;
  std::string control_socket_;
};

}  // namespace satrelay::ctl
