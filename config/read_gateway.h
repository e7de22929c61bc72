// The YAML tree of gateway.yaml turned into schema.h's values.
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

// The values of gateway.yaml with every default filled in. Throws ConfigError. What contradicts
// something else in the file is left to validation.h.
Gateway read_gateway(const Value& document);

}  // namespace satrelay::config
