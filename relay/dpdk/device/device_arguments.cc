#include "relay/dpdk/device/device_arguments.h"

namespace satrelay::dpdk {
namespace {

// The driver uses preferred busy polling by default. Then the kernel processes received frames only
// when the program polls, so frames would wait while an adaptive poller sleeps. busy_budget=0
// switches this off.
std::string af_xdp_arguments(const config::Port& port) {
  return "iface=" + port.interface + ",start_queue=0,queue_count=1,busy_budget=0";
}

std::string memif_arguments(const config::Port& port) {
  const std::size_t buffer = port.mtu > 1900 ? 9216 : 2048;
  return std::string("role=") + (port.memif_server ? "server" : "client") +
         ",socket=" + port.socket + ",socket-abstract=no,rsize=11,bsize=" + std::to_string(buffer);
}

}  // namespace

std::string driver_name(config::Driver driver) {
  switch (driver) {
    case config::Driver::kPci:
      return "pci";
    case config::Driver::kAfPacket:
      return "af_packet";
    case config::Driver::kAfXdp:
      return "af_xdp";
    case config::Driver::kMemif:
      return "memif";
  }
  return "unknown";
}

std::string describe(const config::Port& port) {
  switch (port.driver) {
    case config::Driver::kPci:
      return "pci device " + port.pci;
    case config::Driver::kMemif:
      return "memif on " + port.socket;
    case config::Driver::kAfPacket:
    case config::Driver::kAfXdp:
      return driver_name(port.driver) + " on " + port.interface;
  }
  return "unknown";
}

DeviceArguments device_arguments(const std::string& name, const config::Port& port) {
  switch (port.driver) {
    case config::Driver::kAfXdp:
      return {"net_af_xdp_" + name, af_xdp_arguments(port)};
    case config::Driver::kMemif:
      return {"net_memif_" + name, memif_arguments(port)};
    case config::Driver::kPci:
    case config::Driver::kAfPacket:
      break;
  }
  return {port.pci, ""};
}

}  // namespace satrelay::dpdk
