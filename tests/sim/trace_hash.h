// Tells whether two runs of a network are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pep/base/bytes.h"
#include "relay/sim/network/network.h"

namespace satrelay::sim {

// Hash over all frames that enter the link, in order, and their times (FNV-1a).
class TraceHash {
 public:
  explicit TraceHash(Network& network) {
    network.satellite().on_frame([this, &network](unsigned from, ConstBytes frame) {
      add(from);
      add(static_cast<std::uint64_t>(network.loop().now().to_nanoseconds()));
      for (const std::byte octet : frame) add(static_cast<std::uint8_t>(octet));
    });
  }
  std::uint64_t value() const { return value_; }

 private:
  void add(std::uint64_t value) { value_ = (value_ ^ value) * 0x100000001B3U; }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

}  // namespace satrelay::sim
