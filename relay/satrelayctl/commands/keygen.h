// Makes the secret that two gateways share (`security: {psk_file: ...}`).
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

// 64 hexadecimal digits of random bits of the kernel, and the end of the line.
std::string make_key();
// Writes one to a new file that only its owner may read; if that is root, the group of the user
// satrelay too, where there is one. Throws std::runtime_error, above all if
// the file is there already: what it holds may be in use.
void write_key_file(const std::filesystem::path& file);

}  // namespace satrelay::ctl
