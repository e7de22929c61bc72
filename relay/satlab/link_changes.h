// Reads the link of a scenario: its two directions, which have the same keys as in satlink, and its
// changes over time.
#pragma once

#include <filesystem>

#include "config/readers/document.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Reads `link:`. The experiment's duration must already be set: a change after the end of the run
// is an error, and steps of a trace after the end are ignored. `folder` is the folder of the trace
// files.
void read_link(const config::Value& value, const std::filesystem::path& folder,
               Experiment& experiment);

}  // namespace satrelay::satlab
