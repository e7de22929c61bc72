// From a configured port to the device name and arguments that DPDK's virtual-device bus takes.
#pragma once

#include <string>

#include "config/model/schema.h"

namespace satrelay::dpdk {

struct DeviceArguments {
  std::string device;     // "net_af_xdp_lan"; the PCI address for PCI
  std::string arguments;  // "iface=lan0,..."; empty for PCI
};

// Not of af_packet, which is no device of DPDK's.
DeviceArguments device_arguments(const std::string& name, const config::Port& port);

// "af_packet", as in the configuration.
std::string driver_name(config::Driver driver);
// "af_packet on lan0": which device a port is.
std::string describe(const config::Port& port);

}  // namespace satrelay::dpdk
