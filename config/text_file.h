// A whole file as text.
#pragma once

#include <filesystem>
#include <string>

namespace satrelay::config {

// Throws ConfigError "file: cannot be read: why".
std::string read_text_file(const std::filesystem::path& file);

}  // namespace satrelay::config
