// The YAML tree of gateway.yaml turned into schema.h's values.
#pragma once

#include <cstdint>

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// The values of gateway.yaml with every default filled in. Throws ConfigError. What contradicts
// something else in the file is left to validation.h.
Gateway read_gateway(const Value& document);

// Its parts `stp` and `limits`, for other files that describe gateways.
Stp read_stp(const Value& value, std::uint16_t default_mtu);
Limits read_limits(const Value& value);

}  // namespace satrelay::config
