// `classes` of gateway.yaml and of other files that describe gateways.
#pragma once

#include <vector>

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// Dictionaries are read too, and made ready for `compress_level`. Throws ConfigError.
std::vector<TrafficClass> read_classes(const Value& value);

}  // namespace satrelay::config
