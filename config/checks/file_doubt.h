// Checks whether the gateway will be able to create a file. If the folder is missing, the gateway
// warns the operator but accepts the configuration, because a disk may be mounted later.
#pragma once

#include <string>

namespace satrelay::config {

// Returns a message to the operator, or an empty text if there is no doubt.
std::string doubt_about_file(const std::string& file);

}  // namespace satrelay::config
