// A kernel interface that is used through DPDK's driver for XDP sockets (af_xdp).
#pragma once

#include "relay/dpdk/drivers/eth_device.h"
#include "relay/dpdk/drivers/opened_interface.h"

namespace satrelay::dpdk {

class XdpDevice final : public EthDevice {
 public:
  XdpDevice(const std::string& name, const config::Port& config, PacketPool& pool,
            const Spread& spread);

  std::optional<int> wait_descriptor(unsigned queue) const override;
  // Returns the state of the kernel interface. The link state that the driver reports is not used,
  // since it never changes.
  InterfaceView view() const override;

 private:
  OpenedInterface interface_;
  std::optional<int> descriptor_;  // the XDP socket of the first queue; nullopt if it was not found
};

}  // namespace satrelay::dpdk
