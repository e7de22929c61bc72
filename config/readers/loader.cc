#include "config/readers/loader.h"

#include <vector>

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

void tell(const std::vector<Contradiction>& contradictions, Places& places) {
  places.read_all([&] {
    for (const Contradiction& each : contradictions) {
      places.attempt(each.path, [&] { places.fail(each.path, each.message); });
    }
  });
}

template <typename Config, typename Read>
Config parse(const std::string& text, const std::string& file, Read&& read,
             const Objections<Config>& objections) {
  Places places(file, Telling::kAll);
  Config config;
  places.read_all([&] { config = read(parse_document(text, places, file)); });
  tell(find_contradictions(config), places);
  if (objections) tell(objections(config), places);
  warn(config, places);
  return config;
}

}  // namespace

Gateway parse_gateway(const std::string& text, const std::string& file,
                      const Objections<Gateway>& objections) {
  return parse<Gateway>(text, file, read_gateway, objections);
}

SatLink parse_sat_link(const std::string& text, const std::string& file,
                       const Objections<SatLink>& objections) {
  const auto read = [&](const Value& document) {
    return read_sat_link(document, std::filesystem::path(file).parent_path());
  };
  return parse<SatLink>(text, file, read, objections);
}

Gateway load_gateway(const std::filesystem::path& file, const Objections<Gateway>& objections) {
  return parse_gateway(read_text_file(file, kMostDocumentBytes), file.string(), objections);
}

SatLink load_sat_link(const std::filesystem::path& file, const Objections<SatLink>& objections) {
  return parse_sat_link(read_text_file(file, kMostDocumentBytes), file.string(), objections);
}

}  // namespace satrelay::config
