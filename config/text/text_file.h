// A whole file as text, however long it claims to be.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace satrelay::config {

// Never reads more than `most` bytes, and never waits: a device, a pipe and a file that is longer
// are refused before that. Throws ConfigError "file: what is wrong".
std::string read_text_file(const std::filesystem::path& file, std::size_t most);

}  // namespace satrelay::config
