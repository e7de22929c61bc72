// Whether the gateway can make a file while it runs. A missing folder is only a doubt, and not a
// mistake of the configuration: a disk may be mounted later.
#pragma once

#include <string>

namespace satrelay::config {

// Returns a message to the operator, or an empty text if there is no doubt.
std::string doubt_about_file(const std::string& file);

}  // namespace satrelay::config
