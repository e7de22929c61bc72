// The user that gave the gateway a command.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ops {

struct Caller {
  std::uint32_t user = 0;  // the user's number on this machine, from the kernel
  // "panel:NAME" if the panel sends the command on behalf of its user NAME. The gateway cannot
  // check the name, and trusts the panel. Empty if the caller acts for itself.
  std::string on_behalf_of = {};
};

}  // namespace satrelay::ops
