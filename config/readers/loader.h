// Reads gateway.yaml and link.yaml into the values of schema.h and link_model.h. The first mistake
// in a file leads to a ConfigError: "file:line:column: path: what is wrong; what is allowed".
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

// A check that the caller adds, for example whether this machine has enough memory. This check runs
// only if the configuration has no contradictions.
template <typename Config>
using Objection = std::function<std::optional<Contradiction>(const Config&)>;

Gateway load_gateway(const std::filesystem::path& file, const Objection<Gateway>& objection = {});
SatLink load_sat_link(const std::filesystem::path& file, const Objection<SatLink>& objection = {});

// These functions read text instead of a file. Messages name `file`. Trace files of link.yaml are
// relative to the folder of `file`.
Gateway parse_gateway(const std::string& text, const std::string& file,
                      const Objection<Gateway>& objection = {});
SatLink parse_sat_link(const std::string& text, const std::string& file,
                       const Objection<SatLink>& objection = {});

}  // namespace satrelay::config
