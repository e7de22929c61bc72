#include "relay/dpdk/drivers/xdp_device.h"

#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include "relay/dpdk/socket/own_sockets.h"

namespace satrelay::dpdk {

XdpDevice::XdpDevice(const std::string& name, const config::Port& config, PacketPool& pool,
                     const Spread& spread)
    : EthDevice("needs root, a kernel with XDP sockets and a free queue 0; try driver: af_packet"),
      interface_(config.interface, config.mtu) {
  facts_.notices = interface_.notices();
  facts_.changes = interface_.changes();
  create(device_arguments(name, config));
  const std::uint16_t most = info().max_mtu;
  if (config.mtu > most) {
    throw std::runtime_error("af_xdp takes an MTU of at most " + std::to_string(most) +
                             " here; set a smaller mtu or driver: af_packet");
  }
  const std::vector<int> before = own_sockets(AF_XDP);
  start({}, {}, pool, spread);
  // The driver does not report the socket that it has opened for the queue.
  for (const int descriptor : own_sockets(AF_XDP)) {
    if (!std::ranges::binary_search(before, descriptor)) descriptor_ = descriptor;
  }
  be_promiscuous();
}

std::optional<int> XdpDevice::wait_descriptor(unsigned queue) const {
  return queue == 0 ? descriptor_ : std::nullopt;
}

InterfaceView XdpDevice::view() const {
  std::vector<std::string> objections{"is not the one that af_xdp has opened"};
  if (queues() > 1) objections.emplace_back("is not the one that the workers share");
  return interface_.view(true, objections);
}

}  // namespace satrelay::dpdk
