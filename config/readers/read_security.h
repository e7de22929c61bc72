// `security`: the protection of packets between two gateways.
#pragma once

#include <optional>
#include <string>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Security>& security_keys();

// Reads `none` or {psk_file: PATH}, and the keys from that file. Throws ConfigError. `reader` is
// the user that this process becomes, as in read_psk_file(). It is nullopt if the file has a
// mistake where it names the user. Then the rights of the file of keys cannot be judged, and it is
// not read.
Security read_security(const Value& value, const std::optional<std::string>& reader);

}  // namespace satrelay::config
