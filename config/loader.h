// gateway.yaml and link.yaml as the values of schema.h. Everything wrong with a file ends in a
// ConfigError (the first mistake only) that reads "file:line:column: path: what; what is allowed".
#pragma once

#include <filesystem>
#include <string>

#include "config/error.h"
#include "config/schema.h"

namespace satrelay::config {

Gateway load_gateway(const std::filesystem::path& file);
SatLink load_sat_link(const std::filesystem::path& file);

// As above, from text; `file` appears in messages.
Gateway parse_gateway(const std::string& text, const std::string& file);
SatLink parse_sat_link(const std::string& text, const std::string& file);

}  // namespace satrelay::config
