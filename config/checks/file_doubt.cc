#include "config/checks/file_doubt.h"

#include <filesystem>
#include <system_error>

namespace satrelay::config {

std::string doubt_about_file(const std::string& file) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    return "there is no folder " + folder.string() + " now; records are lost until there is one";
  }
  return std::filesystem::is_directory(file, error) ? "is a folder; write the path of a file" : "";
}

}  // namespace satrelay::config
