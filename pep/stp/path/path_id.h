// Identifies a path between two gateways.
#pragma once

#include <cstdint>

namespace satrelay::stp {

enum class PathId : std::uint8_t {};

// The path that an association begins with.
inline constexpr PathId kFirstPath{0};

}  // namespace satrelay::stp
