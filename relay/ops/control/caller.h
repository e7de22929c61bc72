// The user that gave the gateway a command.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ops {

struct Caller {
  std::uint32_t user = 0;  // user ID on this machine, as the kernel reports it
  // "panel:NAME" if the panel sends the command on behalf of its user NAME, otherwise empty. The
  // gateway cannot check the name, and trusts the panel.
  std::string on_behalf_of = {};
};

}  // namespace satrelay::ops
