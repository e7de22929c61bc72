// The user that gave the gateway a command.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ops {

struct Caller {
  std::uint32_t user = 0;  // the user's number on this machine, from the kernel
  // "panel:NAME" if the panel gives the command for NAME, a user of the panel. The gateway cannot
  // check this name, and trusts the panel. Empty if the user gives the command for itself.
  std::string on_behalf_of = {};
};

}  // namespace satrelay::ops
