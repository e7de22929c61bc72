// The two directions of a carrier, seen from this gateway.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class LinkWay : std::uint8_t { kSend, kReceive };

}  // namespace satrelay::gateway
