#include "relay/dpdk/drivers/memif_device.h"

#include "relay/dpdk/socket/memif_socket.h"

namespace satrelay::dpdk {

MemifDevice::MemifDevice(const std::string& name, const config::Port& config, PacketPool& pool,
                         const Spread& spread)
    : EthDevice("the directory of the socket must exist; each end needs the other role"),
      server_socket_(config.memif_server ? config.socket : "") {
  if (!server_socket_.empty()) remove_stale_memif_socket(server_socket_);
  create(device_arguments(name, config));
  start({}, {}, pool, spread);
}

void MemifDevice::give_to(uid_t user) {
  if (!server_socket_.empty()) give_memif_socket(server_socket_, user);
}

}  // namespace satrelay::dpdk
