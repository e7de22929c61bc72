// A kernel interface by DPDK's driver for XDP sockets (af_xdp).
#pragma once

#include "relay/dpdk/drivers/eth_device.h"
#include "relay/dpdk/drivers/opened_interface.h"

namespace satrelay::dpdk {

class XdpDevice final : public EthDevice {
 public:
  XdpDevice(const std::string& name, const config::Port& config, PacketPool& pool,
            const Spread& spread);

  std::optional<int> wait_descriptor(unsigned queue) const override;
  // The state of the interface. The driver's own answer is constant.
  InterfaceView view() const override;

 private:
  OpenedInterface interface_;
  std::optional<int> descriptor_;  // of the socket of the first queue
};

}  // namespace satrelay::dpdk
