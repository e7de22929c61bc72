// Turns a scenario in YAML into an Experiment (docs/laboratory.md lists the keys).
#pragma once

#include <filesystem>
#include <string>

#include "config/text/error.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Both functions throw config::ConfigError "file:line:column: path: what is wrong; what is
// allowed". If there is a `seed`, it replaces the seed in the file.
Experiment load_scenario(const std::filesystem::path& file,
                         std::optional<std::uint64_t> seed = std::nullopt);
Experiment parse_scenario(const std::string& text, const std::string& file,
                          std::optional<std::uint64_t> seed = std::nullopt);

}  // namespace satrelay::satlab
