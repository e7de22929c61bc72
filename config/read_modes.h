// The switches of a rule that let the far host's doing through (config/schema.h, FlowModes).
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

// Of a rule's fields; throws where they contradict each other or `action`.
FlowModes read_modes(const Fields& rule, Action action);

}  // namespace satrelay::config
