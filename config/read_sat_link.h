// The YAML tree of link.yaml turned into schema.h's values.
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

// The values of link.yaml with every default filled in. Throws ConfigError. What contradicts
// something else in the file is left to validation.h.
SatLink read_sat_link(const Value& document);

}  // namespace satrelay::config
