// Reads gateway.yaml and link.yaml into the values of schema.h and link_model.h. The mistakes in a
// file lead to one ConfigError, which has all of them, each with its place. If a value cannot be
// read, contradictions between values are not searched for, since they could follow from it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/checks/validation.h"
#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "config/text/error.h"

namespace satrelay::config {

// Checks that the caller adds, for example whether this machine has enough memory. They run only if
// the configuration has no contradictions.
template <typename Config>
using Objections = std::function<std::vector<Contradiction>(const Config&)>;

Gateway load_gateway(const std::filesystem::path& file, const Objections<Gateway>& objections = {});
SatLink load_sat_link(const std::filesystem::path& file,
                      const Objections<SatLink>& objections = {});

// These functions read text instead of a file. Messages name `file`. Trace files of link.yaml are
// relative to the folder of `file`.
Gateway parse_gateway(const std::string& text, const std::string& file,
                      const Objections<Gateway>& objections = {});
SatLink parse_sat_link(const std::string& text, const std::string& file,
                       const Objections<SatLink>& objections = {});

}  // namespace satrelay::config
