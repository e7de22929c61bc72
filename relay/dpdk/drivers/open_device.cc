#include "relay/dpdk/drivers/device.h"
#include "relay/dpdk/drivers/memif_device.h"
#include "relay/dpdk/drivers/pci_device.h"
#include "relay/dpdk/drivers/socket_device.h"
#include "relay/dpdk/drivers/xdp_device.h"

namespace satrelay::dpdk {

std::unique_ptr<Device> open_device(const std::string& name, const config::Port& config,
                                    PacketPool& pool, const Spread& spread) {
  switch (config.driver) {
    case config::Driver::kAfPacket:
      return std::make_unique<SocketDevice>(config, pool, spread);
    case config::Driver::kAfXdp:
      return std::make_unique<XdpDevice>(name, config, pool, spread);
    case config::Driver::kMemif:
      return std::make_unique<MemifDevice>(name, config, pool, spread);
    case config::Driver::kPci:
      return std::make_unique<PciDevice>(name, config, pool, spread);
  }
  return nullptr;
}

}  // namespace satrelay::dpdk
