#include "config/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "config/error.h"

namespace satrelay::config {

std::string read_text_file(const std::filesystem::path& file) {
  const auto cannot = [&](const std::string& why) {
    return ConfigError(file.string() + ": cannot be read: " + why);
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw cannot("it is a directory");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw cannot(std::strerror(errno != 0 ? errno : EIO));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) throw cannot(std::strerror(EIO));
  return text.str();
}

}  // namespace satrelay::config
