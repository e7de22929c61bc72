// A network card that DPDK drives itself (pci).
#pragma once

#include "relay/dpdk/drivers/eth_device.h"

namespace satrelay::dpdk {

class PciDevice final : public EthDevice {
 public:
  PciDevice(const std::string& name, const config::Port& config, PacketPool& pool,
            const Spread& spread);

 private:
  // Returns the receive offloads to request from the device. Notes in facts_ the offloads that the
  // device lacks.
  std::uint64_t receive_offloads(std::uint64_t offered);
  // Returns the send offloads to request, and notes those that the device lacks.
  DeviceSender::Abilities send_abilities(const rte_eth_dev_info& info, bool large_frames);
};

}  // namespace satrelay::dpdk
