// The link of a scenario: its two directions as satlink knows them, and what happens to it over
// time.
#pragma once

#include <filesystem>

#include "config/readers/document.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Reads `link:`. The experiment's duration is known already: what would happen later is refused.
// `folder`: where the files of traces are looked for.
void read_link(const config::Value& value, const std::filesystem::path& folder,
               Experiment& experiment);

}  // namespace satrelay::satlab
