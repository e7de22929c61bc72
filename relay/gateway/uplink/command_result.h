// Results of an operator's command about the uplink.
#pragma once

#include <cstdint>

namespace satrelay::gateway {

enum class CapacityResult : std::uint8_t { kSet, kUnknownLink, kUnusedLink, kAboveConfigured };
enum class ClassResult : std::uint8_t { kSet, kUnknownClass, kAboveLink, kContradiction };

}  // namespace satrelay::gateway
