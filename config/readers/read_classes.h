// `classes` of gateway.yaml and of other files that describe gateways.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<TrafficClass>& class_keys();

// Dictionaries are read too, and made ready for `compress_level`. Throws ConfigError.
std::vector<TrafficClass> read_classes(const Value& value);

}  // namespace satrelay::config
