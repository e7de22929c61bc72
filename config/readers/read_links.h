// The part `links` of gateway.yaml.
#pragma once

#include <vector>

#include "config/keys/key.h"
#include "config/model/schema.h"

namespace satrelay::config {

// The rates that a link may have.
inline constexpr Bounds<BitRate> kLinkRate{BitRate::bits_per_second(1'000), kMostLinkRate};

// All keys except those that choose the rate controller (read_rate_control.h).
const Keys<Link>& link_keys();

std::vector<Link> read_links(const Value& value);

}  // namespace satrelay::config
