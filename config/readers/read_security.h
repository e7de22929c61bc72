// `security`: how what travels between two gateways is protected.
#pragma once

#include <string>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Security>& security_keys();

// `none`, or {psk_file: PATH}, which is read here. Throws ConfigError.
// `reader`: as for read_psk_file().
Security read_security(const Value& value, const std::string& reader);

}  // namespace satrelay::config
