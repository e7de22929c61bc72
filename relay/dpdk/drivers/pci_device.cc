#include "relay/dpdk/drivers/pci_device.h"

#include <rte_eal.h>

#include <algorithm>
#include <stdexcept>

namespace satrelay::dpdk {
namespace {

// Size of two VLAN tags. Frames may be longer than the MTU by this size, and not every device
// allows for tags by itself.
constexpr std::uint16_t kTwoTags = 8;
// Maximum number of buffers in a large frame, if the driver has no limit of its own.
constexpr std::size_t kFewPieces = 8;

std::uint64_t offloads_of(const DeviceSender::Abilities& abilities) {
  std::uint64_t offloads = 0;
  if (abilities.sums_tcp) offloads |= RTE_ETH_TX_OFFLOAD_TCP_CKSUM;
  if (abilities.sums_ip) offloads |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
  if (abilities.pieces > 1) {
    offloads |= RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  }
  return offloads;
}

}  // namespace

PciDevice::PciDevice(const std::string& name, const config::Port& config, PacketPool& pool,
                     const Spread& spread)
    : EthDevice("bind the device to vfio-pci first (see: satrelay-bind-ports)") {
  // A PCI device cannot address packets on normal pages.
  if (rte_eal_has_hugepages() == 0) {
    throw std::runtime_error(
        "a PCI device needs hugepages for its packets, and too few are free; reserve some: "
        "satrelay-bind-ports --hugepages MIB bind, or hugepages= on the kernel's command line");
  }
  open(device_arguments(name, config).device);
  const rte_eth_dev_info limits = info();
  if (config.mtu > limits.max_mtu) {
    throw std::runtime_error("the device takes an MTU of at most " +
                             std::to_string(limits.max_mtu) + "; set a smaller mtu");
  }
  rte_eth_conf conf{};
  conf.rxmode.mtu = std::min<std::uint32_t>(config.mtu + kTwoTags, limits.max_mtu);
  conf.rxmode.offloads = receive_offloads(limits.rx_offload_capa);
  const DeviceSender::Abilities abilities = send_abilities(limits, config.large_frames);
  conf.txmode.offloads = offloads_of(abilities);
  start(conf, abilities, pool, spread);
  be_promiscuous();
  facts_.keeps_frames = true;
  facts_.numa_node = rte_eth_dev_socket_id(id());
}

std::uint64_t PciDevice::receive_offloads(std::uint64_t offered) {
  constexpr std::uint64_t kChecksums = RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  if ((offered & kChecksums) == kChecksums) return kChecksums;
  facts_.missing_offloads.emplace_back("the check of TCP and UDP checksums on receive");
  return 0;
}

DeviceSender::Abilities PciDevice::send_abilities(const rte_eth_dev_info& info, bool large_frames) {
  DeviceSender::Abilities abilities;
  const auto offers = [&](std::uint64_t all) { return (info.tx_offload_capa & all) == all; };
  if (!offers(RTE_ETH_TX_OFFLOAD_TCP_CKSUM)) {
    facts_.missing_offloads.emplace_back("the sum of TCP checksums on sending");
    return abilities;
  }
  if (!large_frames) return abilities;
  abilities.sums_tcp = true;
  abilities.sums_ip = offers(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
  if (offers(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)) {
    const std::uint16_t most = info.tx_desc_lim.nb_seg_max;  // 0 means that the driver has no limit
    abilities.pieces = most == 0 ? kFewPieces : std::min<std::size_t>(most, Burst::kCapacity);
  }
  return abilities;
}

}  // namespace satrelay::dpdk
