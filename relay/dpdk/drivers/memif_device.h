// Memory shared with another program on this machine (memif), by DPDK's driver.
#pragma once

#include "relay/dpdk/drivers/eth_device.h"

namespace satrelay::dpdk {

class MemifDevice final : public EthDevice {
 public:
  MemifDevice(const std::string& name, const config::Port& config, PacketPool& pool,
              const Spread& spread);

  // Makes `user` the owner of the UNIX socket, if this end is the server.
  void give_to(uid_t user) override;

 private:
  std::string server_socket_;  // path of the socket; empty if the other end is the server
};

}  // namespace satrelay::dpdk
