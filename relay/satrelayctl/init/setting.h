// The circumstances in which answers are judged: the machine, and the options of the program.
#pragma once

#include <optional>
#include <string>

#include "relay/satrelayctl/commands/new_file.h"
#include "relay/satrelayctl/init/ports/interfaces.h"

namespace satrelay::ctl::init {

struct Setting {
  Machine machine;
  Existing existing = Existing::kKeep;
  std::optional<std::string> folder;  // from --folder; then the program does not ask for it
};

}  // namespace satrelay::ctl::init
