// `classes` of gateway.yaml and of other files that describe gateways.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<TrafficClass>& class_keys();

// Also reads the files of dictionaries, and refuses a file that is not a dictionary of zstd. Throws
// ConfigError.
std::vector<TrafficClass> read_classes(const Value& value);

}  // namespace satrelay::config
