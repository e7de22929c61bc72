// The pages of the panel, which are part of the program, and the library that draws, which is
// Debian's.
#pragma once

#include <optional>
#include <string>

#include "relay/satpanel/http/http.h"

namespace satrelay::panel {

// By its path: "/" and "/assets/NAME", "/vendor/NAME"; nullopt: there is none.
std::optional<Response> find_asset(const std::string& path);

}  // namespace satrelay::panel
