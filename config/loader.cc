#include "config/loader.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "config/document.h"
#include "config/read_gateway.h"
#include "config/read_sat_link.h"
#include "config/validation.h"

namespace satrelay::config {
namespace {

std::string read_file(const std::filesystem::path& file) {
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

template <typename Config>
Config parse(const std::string& text, const std::string& file, Config (*read)(const Value&)) {
  Places places(file);
  Config config = read(parse_document(text, places, file));
  if (const auto wrong = find_contradiction(config)) places.fail(wrong->path, wrong->message);
  return config;
}

}  // namespace

Gateway parse_gateway(const std::string& text, const std::string& file) {
  return parse<Gateway>(text, file, read_gateway);
}

SatLink parse_sat_link(const std::string& text, const std::string& file) {
  return parse<SatLink>(text, file, read_sat_link);
}

Gateway load_gateway(const std::filesystem::path& file) {
  return parse_gateway(read_file(file), file.string());
}

SatLink load_sat_link(const std::filesystem::path& file) {
  return parse_sat_link(read_file(file), file.string());
}

}  // namespace satrelay::config
