#include "config/loader.h"

#include "config/document.h"
#include "config/read_gateway.h"
#include "config/read_sat_link.h"
#include "config/text_file.h"
#include "config/validation.h"

namespace satrelay::config {
namespace {

template <typename Read>
auto parse(const std::string& text, const std::string& file, Read&& read) {
  Places places(file);
  auto config = read(parse_document(text, places, file));
  if (const auto wrong = find_contradiction(config)) places.fail(wrong->path, wrong->message);
  return config;
}

}  // namespace

Gateway parse_gateway(const std::string& text, const std::string& file) {
  return parse(text, file, read_gateway);
}

SatLink parse_sat_link(const std::string& text, const std::string& file) {
  return parse(text, file, [&](const Value& document) {
    return read_sat_link(document, std::filesystem::path(file).parent_path());
  });
}

Gateway load_gateway(const std::filesystem::path& file) {
  return parse_gateway(read_text_file(file), file.string());
}

SatLink load_sat_link(const std::filesystem::path& file) {
  return parse_sat_link(read_text_file(file), file.string());
}

}  // namespace satrelay::config
