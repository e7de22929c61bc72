// Whether a gateway accepts new flows. Existing flows always continue.
#pragma once

#include <cstddef>
#include <cstdint>

namespace satrelay::gateway {

enum class Admission : std::uint8_t {
  kOpen = 0,
  kBypass = 1,    // new flows are bridged, on the operator's command
  kDraining = 2,  // new flows are bridged, and the gateway stops when the last flow has ended
};
inline constexpr std::uint8_t kLastAdmission = 2;

constexpr const char* to_string(Admission admission) {
  constexpr const char* kNames[] = {"open", "bypass", "draining"};
  return kNames[static_cast<std::size_t>(admission)];
}

}  // namespace satrelay::gateway
