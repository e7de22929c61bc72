// A kernel bridge that joins the two ports of a gateway while no gateway forwards between them
// (fail-to-wire). It is as plain a wire as the kernel has: without spanning tree and snooping, and
// it forwards every frame but pause frames.
#pragma once

#include <optional>
#include <string>

#include "relay/kernel/rtnetlink.h"

namespace satrelay::kernel {

class WireBridge {
 public:
  // Throws std::system_error if the kernel does not answer.
  WireBridge(std::string lan, std::string wan);

  // True if both interfaces are ports of one bridge of this kind, and all three are up.
  bool is_joined();
  // Brings both interfaces up and joins them. Takes them out of older bridges of this kind first.
  // Throws std::system_error, or std::runtime_error if an interface is missing or belongs to
  // another bridge or bond. Then they are not joined.
  void join();
  // Removes the bridge of each interface if it is of this kind. Returns whether there was one.
  // Throws std::system_error.
  bool part();

 private:
  LinkFacts require(const std::string& name);
  void build(const LinkFacts& lan, const LinkFacts& wan, const std::string& bridge);

  std::string lan_;
  std::string wan_;
  Rtnetlink kernel_;
};

// The bridge, bond or VRF that has the interface, unless it is a WireBridge. nullopt if there is
// none. Throws std::system_error.
std::optional<LinkFacts> foreign_master(Rtnetlink& kernel, const LinkFacts& interface);

// True if the interface is a port of a WireBridge. Throws std::system_error.
bool is_in_wire_bridge(Rtnetlink& kernel, const LinkFacts& interface);

}  // namespace satrelay::kernel
