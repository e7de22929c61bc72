// `security`: how what travels between two gateways is protected.
#pragma once

#include "config/document.h"
#include "config/schema.h"

namespace satrelay::config {

// `none`, or {psk_file: PATH}, which is read here. Throws ConfigError.
Security read_security(const Value& value);

}  // namespace satrelay::config
