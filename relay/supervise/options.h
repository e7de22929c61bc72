// The command line of satrelay-supervise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace satrelay::supervise {

enum class Action : std::uint8_t { kRun, kJoin, kPart };

struct Options {
  Action action = Action::kRun;
  std::string file;                     // gateway.yaml; empty if `interfaces` are given instead
  std::vector<std::string> interfaces;  // empty, or LAN and WAN
  bool force = false;                   // passed on to satrelayd
};

struct ParsedOptions {
  std::optional<Options> options;
  int exit = 0;  // if there are no options: the exit status of the program
};

ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace satrelay::supervise
