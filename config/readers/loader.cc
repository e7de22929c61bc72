#include "config/readers/loader.h"

#include "config/link/read_sat_link.h"
#include "config/readers/document.h"
#include "config/readers/read_gateway.h"
#include "config/text/text_file.h"

namespace satrelay::config {
namespace {

void warn(Gateway& config, const Places& places) {
  for (const Contradiction& each : find_doubtful(config)) {
    config.remarks.warnings.push_back(places.point_at(each.path, each.message));
  }
  for (const Contradiction& each : find_consequences(config)) {
    config.remarks.notes.push_back(places.point_at(each.path, each.message));
  }
}

void warn(SatLink&, const Places&) {}  // no check for doubtful values

template <typename Read, typename Object>
auto parse(const std::string& text, const std::string& file, Read&& read, const Object& objection) {
  Places places(file);
  auto config = read(parse_document(text, places, file));
  auto wrong = find_contradiction(config);
  if (!wrong && objection) wrong = objection(config);
  if (wrong) places.fail(wrong->path, wrong->message);
  warn(config, places);
  return config;
}

}  // namespace

Gateway parse_gateway(const std::string& text, const std::string& file,
                      const Objection<Gateway>& objection) {
  return parse(text, file, read_gateway, objection);
}

SatLink parse_sat_link(const std::string& text, const std::string& file,
                       const Objection<SatLink>& objection) {
  const auto read = [&](const Value& document) {
    return read_sat_link(document, std::filesystem::path(file).parent_path());
  };
  return parse(text, file, read, objection);
}

Gateway load_gateway(const std::filesystem::path& file, const Objection<Gateway>& objection) {
  return parse_gateway(read_text_file(file, kMostDocumentBytes), file.string(), objection);
}

SatLink load_sat_link(const std::filesystem::path& file, const Objection<SatLink>& objection) {
  return parse_sat_link(read_text_file(file, kMostDocumentBytes), file.string(), objection);
}

}  // namespace satrelay::config
