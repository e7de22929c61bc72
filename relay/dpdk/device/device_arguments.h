// Makes the device name and the arguments for DPDK's virtual-device bus from a configured port.
#pragma once

#include <string>

#include "config/model/schema.h"

namespace satrelay::dpdk {

struct DeviceArguments {
  std::string device;     // such as "net_af_xdp_lan"; the PCI address for PCI
  std::string arguments;  // such as "iface=lan0,..."; empty for PCI
};

// Returns the DPDK device for the port `name`. Must not be called for af_packet, which is not a
// device of DPDK.
DeviceArguments device_arguments(const std::string& name, const config::Port& port);

// The name in the configuration, such as "af_packet".
std::string driver_name(config::Driver driver);
// Describes the device of a port, such as "af_packet on lan0".
std::string describe(const config::Port& port);

}  // namespace satrelay::dpdk
