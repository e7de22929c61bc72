// Who has told the gateway to do something.
#pragma once

#include <cstdint>
#include <string>

namespace satrelay::ops {

struct Caller {
  std::uint32_t user = 0;  // its number on this machine, as the kernel knows it
  // "panel:NAME", if a program asks for somebody who has logged in there: as that program says.
  std::string on_behalf_of = {};
};

}  // namespace satrelay::ops
