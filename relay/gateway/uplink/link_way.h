// The two directions of a carrier, as its gateway sees them.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class LinkWay : std::uint8_t { kSend, kReceive };

}  // namespace satrelay::gateway
