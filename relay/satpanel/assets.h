// The panel's pages, which are part of the program, and the chart library, which is a package of
// Debian.
#pragma once

#include <optional>
#include <string>

#include "relay/satpanel/http/http.h"

namespace satrelay::panel {

// Returns the file for a path ("/", "/assets/NAME" or "/vendor/NAME"), or nullopt if there is no
// such file.
std::optional<Response> find_asset(const std::string& path);

}  // namespace satrelay::panel
