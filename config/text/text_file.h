// Reads a whole file as text, even if the file system reports a wrong length.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace satrelay::config {

// Refuses devices, pipes and files of more than `most` bytes, so that reading cannot wait for a
// writer or continue for ever. Throws ConfigError "file: what is wrong".
std::string read_text_file(const std::filesystem::path& file, std::size_t most);

}  // namespace satrelay::config
