// The link of a scenario: its two directions as satlink knows them, and what happens to it over
// time.
#pragma once

#include "config/document.h"
#include "relay/satlab/experiment.h"

namespace satrelay::satlab {

// Reads `link:`. The experiment's duration is known already: what would happen later is refused.
void read_link(const config::Value& value, Experiment& experiment);

}  // namespace satrelay::satlab
