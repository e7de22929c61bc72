// Generates the secret that two gateways share (`security: {psk_file: ...}`).
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::ctl {

// Returns 64 hexadecimal digits of random bits from the kernel, and a newline.
std::string make_key();
// Lets the group of the gateway's user read the open file, if root runs the program and a user
// satrelay exists. Returns false, with errno, if that fails.
bool let_gateway_read(int descriptor);
// Writes a key to a new file that only its owner may read. If root runs the program and a user
// satrelay exists, the group of that user may read the file as well. Throws std::runtime_error,
// also if the file exists, since the key in it may be in use.
void write_key_file(const std::filesystem::path& file);

}  // namespace satrelay::ctl
