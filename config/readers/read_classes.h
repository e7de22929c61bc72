// `classes` of gateway.yaml and of other files that describe gateways.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<TrafficClass>& class_keys();

// Reads the classes and the files of their dictionaries. Throws ConfigError, also if a file is not
// a dictionary of zstd.
std::vector<TrafficClass> read_classes(const Value& value);

}  // namespace satrelay::config
