// gateway.yaml and link.yaml as the values of schema.h. Everything wrong with a file ends in a
// ConfigError (the first mistake only) that reads "file:line:column: path: what; what is allowed".
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "config/checks/validation.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/text/error.h"

namespace satrelay::config {

// What else speaks against a configuration that is right in itself: this machine.
template <typename Config>
using Objection = std::function<std::optional<Contradiction>(const Config&)>;

Gateway load_gateway(const std::filesystem::path& file, const Objection<Gateway>& objection = {});
SatLink load_sat_link(const std::filesystem::path& file, const Objection<SatLink>& objection = {});

// As above, from text; `file` appears in messages.
Gateway parse_gateway(const std::string& text, const std::string& file,
                      const Objection<Gateway>& objection = {});
SatLink parse_sat_link(const std::string& text, const std::string& file,
                       const Objection<SatLink>& objection = {});

}  // namespace satrelay::config
