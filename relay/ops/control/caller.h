// The user that gave the gateway a command.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ops {

struct Caller {
  std::uint32_t user = 0;  // the user's number on this machine, from the kernel
  // "panel:NAME" if a program gives the command for a user logged in there. Only that program
  // vouches for the name.
  std::string on_behalf_of = {};
};

}  // namespace satrelay::ops
