// The state of a kernel interface, as far as it matters to a port of a gateway.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace satrelay::machine {

struct InterfaceFacts {
  bool exists = false;      // in this network namespace
  bool is_enabled = false;  // administratively up (`ip link set up`)
  bool is_running = false;  // enabled, with a carrier
  bool is_half_duplex = false;
  bool is_in_wire_bridge = false;  // satrelay-supervise has joined it with the other port
  bool has_address = false;        // the kernel has an IPv4 or IPv6 address on it
  unsigned mtu = 0;                // IP bytes
  std::uint32_t megabits = 0;      // speed in Mbit/s; 0 if it is unknown
  // The bridge, bond or VRF of another program that has the interface: "bridge br0"; empty: none.
  std::string foreign_master;
  std::vector<std::string> merge_offloads;  // those that are switched on, as `ethtool -k` says
};

InterfaceFacts read_interface(const std::string& name);

}  // namespace satrelay::machine
