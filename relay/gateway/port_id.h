// The two ports of a gateway.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class PortId : std::uint8_t { kLan = 0, kWan = 1 };
constexpr PortId other(PortId port) { return port == PortId::kLan ? PortId::kWan : PortId::kLan; }

}  // namespace satrelay::gateway
