// The parts `limits` and `tcp` of gateway.yaml.
#pragma once

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Limits>& limits_keys();
const Keys<Tcp>& tcp_keys();

Limits read_limits(const Value& value);
Tcp read_tcp(const Value& value);

}  // namespace satrelay::config
