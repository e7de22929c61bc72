// The commands of satlink's control socket, as values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "pep/base/units.h"

namespace satrelay::satlink {

enum class Side : std::uint8_t { kAToB, kBToA, kBoth };
enum class Outage : std::uint8_t { kOn, kOff };

struct SetRate {
  Side side;
  BitRate rate;  // zero means an unlimited rate
};
struct SetLoss {
  Side side;
  double loss;
};
struct SetOutage {
  Side side;
  Outage outage;
};
struct ShowCounters {};
struct ShowHelp {};
struct Quit {};

using ControlCommand = std::variant<SetRate, SetLoss, SetOutage, ShowCounters, ShowHelp, Quit>;

struct ControlParse {
  std::optional<ControlCommand> command;
  // If there is no command, this message names the mistake and shows the allowed syntax.
  std::string error;
};

// Parses a line, which may contain any bytes. Words are separated by spaces or tabs.
ControlParse parse_control_command(std::string_view line);

// The list of commands, one line each, for --help and for the command `help`.
extern const char* const kControlHelp;

}  // namespace satrelay::satlink
