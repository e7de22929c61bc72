// Reads the link of a scenario: its two directions, with the keys of satlink, and its changes over
// time.
#pragma once

#include <filesystem>

#include "config/readers/document.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Reads `link:`. The experiment's duration must be set before: a change after the end of the run is
// refused, and later steps of a trace are ignored. `folder`: the folder of the trace files.
void read_link(const config::Value& value, const std::filesystem::path& folder,
               Experiment& experiment);

}  // namespace satrelay::satlab
