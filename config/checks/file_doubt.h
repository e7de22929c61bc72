// What stands in the way of a file that is to be made while the gateway runs. No mistake of the
// configuration: a disk may be mounted later.
#pragma once

#include <string>

namespace satrelay::config {

// A sentence without its subject; "": nothing.
std::string doubt_about_file(const std::string& file);

}  // namespace satrelay::config
