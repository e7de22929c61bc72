// The part `stp` of gateway.yaml.
#pragma once

#include <cstdint>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

const Keys<Stp>& stp_keys();
const Keys<Feedback>& feedback_keys();

Stp read_stp(const Value& value, std::uint16_t default_mtu);

}  // namespace satrelay::config
