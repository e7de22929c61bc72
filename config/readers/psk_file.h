// The file that holds the secret which two gateways share: one or two lines of 64 hexadecimal
// digits. The first is the key to speak with; the second, the previous or the next one, is accepted
// too while the gateways change over.
#pragma once

#include <filesystem>
#include <string>

#include "config/model/schema.h"

namespace satrelay::config {

// Throws ConfigError, which names the file and, for what is wrong in it, line and column, but never
// anything of its text. Refused is also a file that is not a regular one, or that others than root
// and this process's user own or may read or write; but its group may read it, if that is the one
// of `reader`, the user that this process becomes when it is root's. What was read is wiped.
PresharedKeys read_psk_file(const std::filesystem::path& file, const std::string& reader = "");

}  // namespace satrelay::config
