// The YAML tree of gateway.yaml turned into schema.h's values.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

// The keys at the top of the file.
const Keys<Gateway>& gateway_keys();
// The keys of its part `access`.
const Keys<Gateway>& gateway_access_keys();
const Keys<GatewayAddress>& address_keys();

// The values of gateway.yaml with every default filled in. Throws ConfigError. Contradictions
// between keys are left to validation.h.
Gateway read_gateway(const Value& document);

}  // namespace satrelay::config
