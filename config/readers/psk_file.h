// The file of the secret that two gateways share: one or two lines of 64 hexadecimal digits. The
// first line is the key with which the gateway starts handshakes. The second line is the previous
// or the next key, which the gateway also accepts while the two gateways change keys.
#pragma once

#include <filesystem>
#include <string>

#include "config/model/schema.h"

namespace satrelay::config {

// Throws ConfigError, which names the file, and the line and column of a mistake, but never shows
// any text of the file. Also refuses a file that is not a regular file, that belongs to a user
// other than root and the user of this process, or that other users may read or write. If the file
// belongs to root, one group may read it: the group of `reader` if this process runs as root,
// otherwise the group of this process. `reader` is the user that this process becomes; an empty
// text stands for kGatewayUser, or kNobody if there is no such user. The text is wiped from memory
// after reading.
PresharedKeys read_psk_file(const std::filesystem::path& file, const std::string& reader = "");

}  // namespace satrelay::config
