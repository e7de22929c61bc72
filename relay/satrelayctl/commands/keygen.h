// Makes the secret that two gateways share (`security: {psk_file: ...}`).
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

// Returns 64 hexadecimal digits of random bits from the kernel, and a newline.
std::string make_key();
// Writes a key to a new file that only its owner may read. If the owner is root and a user satrelay
// exists, this user's group may read the file too. Throws std::runtime_error, also if the file
// exists: the key in it may be in use.
void write_key_file(const std::filesystem::path& file);

}  // namespace satrelay::ctl
