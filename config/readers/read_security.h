// `security`: how what travels between two gateways is protected.
#pragma once

#include <string>

#include "config/model/schema.h"
#include "config/readers/document.h"

namespace satrelay::config {

// `none`, or {psk_file: PATH}, which is read here. Throws ConfigError.
// `reader`: as for read_psk_file().
Security read_security(const Value& value, const std::string& reader);

}  // namespace satrelay::config
