// Reads a whole file as text, even if the file system tells a wrong length for it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace satrelay::config {

// Refuses devices, pipes and files of more than `most` bytes, so that it neither waits for a writer
// nor reads without an end. Throws ConfigError "file: what is wrong".
std::string read_text_file(const std::filesystem::path& file, std::size_t most);

}  // namespace satrelay::config
