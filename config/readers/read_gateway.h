// Turns the YAML tree of gateway.yaml into the values of schema.h.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

// The keys at the top of the file.
const Keys<Gateway>& gateway_keys();
// The keys of the part `access`.
const Keys<Gateway>& gateway_access_keys();
const Keys<GatewayAddress>& address_keys();

// The values of gateway.yaml, with every default filled in. Throws ConfigError. validation.h finds
// most contradictions between the parts of the file.
Gateway read_gateway(const Value& document);

}  // namespace satrelay::config
