// The file of the secret that two gateways share: one or two lines of 64 hexadecimal digits. The
// first line is the key with which the gateway starts handshakes. The second line is the previous
// or the next key, which the gateway also accepts while the two gateways change keys.
#pragma once

#include <filesystem>
#include <string>

#include "config/model/schema.h"

namespace satrelay::config {

// Reads the keys, and wipes the text of the file from memory. Throws ConfigError, which names the
// file, and the line and column of a mistake, but never shows text of the file. The file must be a
// regular file that belongs to root or to the user of this process. Other users must not be able to
// read or write the file. There is one exception: one group may read a file of root. If this
// process runs as root, this is the group of `reader`. Otherwise it is the group of this process.
// `reader` is the user that this process becomes. An empty text stands for kGatewayUser, or for
// kNobody if there is no such user.
PresharedKeys read_psk_file(const std::filesystem::path& file, const std::string& reader = "");

}  // namespace satrelay::config
