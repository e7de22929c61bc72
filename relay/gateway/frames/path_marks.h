// The DSCP and TTL of a host's packets when they reach the gateway. The far gateway uses the same
// values for the packets that it sends to the far host.
#pragma once

#include <cstdint>

#include "pep/base/image/image.h"

namespace satrelay::gateway {

// A packet with at most this TTL may be a probe: traceroute counts from 1 up to 30, and similar
// programs up to 33. Other programs begin with 64 or more, and the routers of the LAN subtract
// little. The only exception is BGP between adjacent routers, which also begins with 1.
inline constexpr std::uint8_t kMostTtlOfAProbe = 33;

struct PathMarks {
  static PathMarks of(std::uint8_t traffic_class, std::uint8_t hop_limit) {
    return {.traffic_class = static_cast<std::uint8_t>(traffic_class & 0xfcU),
            .hop_limit = hop_limit};
  }

  // DSCP. The ECN bits are 0, since the TCP connection of each LAN has its own ECN.
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  void image(Image& image) { image(traffic_class, hop_limit); }
  friend bool operator==(const PathMarks&, const PathMarks&) = default;
};

}  // namespace satrelay::gateway
