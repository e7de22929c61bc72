#include "relay/dpdk/drivers/eth_device.h"

#include <rte_dev.h>
#include <rte_errno.h>

#include <algorithm>
#include <stdexcept>

#include "relay/dpdk/socket/finish_checksum.h"

namespace satrelay::dpdk {
namespace {

constexpr std::uint16_t kDescriptors = 2048;

void check(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + rte_strerror(-result));
}

}  // namespace

EthDevice::~EthDevice() {
  if (is_started_) {
    rte_eth_promiscuous_disable(id_);
    rte_eth_dev_stop(id_);
  }
  if (is_open_) rte_eth_dev_close(id_);
  if (!created_.empty()) rte_eal_hotplug_remove("vdev", created_.c_str());
}

void EthDevice::create(const DeviceArguments& device) {
  const int result = rte_eal_hotplug_add("vdev", device.device.c_str(), device.arguments.c_str());
  if (result != 0) {
    throw std::runtime_error(std::string("cannot open the device: ") + rte_strerror(-result) +
                             "; " + advice_);
  }
  created_ = device.device;
  open(device.device);
}

void EthDevice::open(const std::string& device) {
  if (rte_eth_dev_get_port_by_name(device.c_str(), &id_) != 0) {
    throw std::runtime_error(std::string("DPDK has no such device; ") + advice_);
  }
  is_open_ = true;
}

rte_eth_dev_info EthDevice::info() const {
  rte_eth_dev_info info{};
  check(rte_eth_dev_info_get(id_, &info), "cannot read the device's limits");
  return info;
}

// Configures RSS with the hash that assigns connections to workers, and returns the number of
// queues. The device chooses the queue by the low bits of the hash. If the device has too few
// queues, only one queue is used. If it cannot compute the hash, it may put all frames into the
// first queue, or distribute them in another way.
unsigned EthDevice::spread_over(const Spread& spread, rte_eth_conf& conf) {
  constexpr std::uint64_t kKinds = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                                   RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |
                                   RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;
  const rte_eth_dev_info limits = info();
  if (spread.queues == 1) return 1;
  if (limits.max_rx_queues < spread.queues || limits.max_tx_queues < spread.queues) return 1;
  if ((limits.flow_type_rss_offloads & kKinds) == 0) return spread.queues;
  rss_key_.resize(limits.hash_key_size == 0 ? 40 : limits.hash_key_size);
  for (std::size_t i = 0; i < rss_key_.size(); ++i) {
    rss_key_[i] = static_cast<std::uint8_t>(i % 2 == 0 ? kSpreadKey >> 8 : kSpreadKey & 0xff);
  }
  conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  rte_eth_rss_conf& rss = conf.rx_adv_conf.rss_conf;
  rss.rss_key = rss_key_.data();
  rss.rss_key_len = static_cast<std::uint8_t>(rss_key_.size());
  rss.rss_hf = limits.flow_type_rss_offloads & kKinds;
  return spread.queues;
}

// Frames must pass untouched, so `conf` must not request offloads that strip tags or merge frames.
void EthDevice::start(rte_eth_conf conf, const DeviceSender::Abilities& abilities, PacketPool& pool,
                      const Spread& spread) {
  const auto queues = static_cast<std::uint16_t>(spread_over(spread, conf));
  check(rte_eth_dev_configure(id_, queues, queues, &conf), "cannot configure the device");
  std::uint16_t rx_descriptors = kDescriptors;
  std::uint16_t tx_descriptors = kDescriptors;
  check(rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors, &tx_descriptors),
        "cannot size the queues");
  const auto any_socket = static_cast<unsigned>(SOCKET_ID_ANY);
  for (std::uint16_t i = 0; i < queues; ++i) {
    check(rte_eth_rx_queue_setup(id_, i, rx_descriptors, any_socket, nullptr, pool.raw()),
          "cannot set up a receive queue");
    check(rte_eth_tx_queue_setup(id_, i, tx_descriptors, any_socket, nullptr),
          "cannot set up a send queue");
  }
  check(rte_eth_dev_start(id_), "cannot start the device");
  is_started_ = true;
  queues_.reserve(queues);
  for (std::uint16_t i = 0; i < queues; ++i) queues_.push_back({.sender = {id_, i, abilities}});
  facts_.sums_tcp = abilities.sums_tcp;
}

void EthDevice::be_promiscuous() {
  const int result = rte_eth_promiscuous_enable(id_);
  if (result == 0) return;
  facts_.notices.push_back(std::string("cannot make the device promiscuous: ") +
                           rte_strerror(-result) + "; frames for other hosts will not arrive");
}

MacAddress EthDevice::mac() const {
  MacAddress result;
  rte_ether_addr address{};
  if (rte_eth_macaddr_get(id_, &address) == 0) {
    std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), result.octets.begin());
  }
  return result;
}

std::size_t EthDevice::receive(Burst& burst, unsigned queue) {
  if (burst.begin_ != 0) burst.compact();
  const std::size_t room = Burst::kCapacity - burst.end_;
  rte_mbuf** const first = burst.packets_.data() + burst.end_;
  const std::size_t count = rte_eth_rx_burst(id_, static_cast<std::uint16_t>(queue), first,
                                             static_cast<std::uint16_t>(room));
  // PacketView::is_own() needs the port of the mbuf, which not every driver sets.
  for (std::size_t i = 0; i < count; ++i) first[i]->port = id_;
  const std::size_t whole = finish(first, count, queues_[queue]);
  burst.end_ += whole;
  return whole;
}

std::size_t EthDevice::finish(rte_mbuf** frames, std::size_t count, Queue& queue) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Packet packet(frames[i]);
    if (packet.is_in_pieces()) [[unlikely]] {
      if (!packet.join_pieces()) {
        ++queue.rx_merged;
        continue;
      }
      ++queue.rx_joined;
    }
    // If a device does not recognize a packet, it does not check the checksum. But several drivers
    // report the checksum of such a packet as good.
    if (packet.checksum_is_verified() && !packet.is_plain_transport()) packet.set_unchecked();
    if (packet.checksum_is_verified()) {
      ++queue.rx_checksums_verified;
    } else if (packet.checksum_is_unfinished() && finish_checksum(packet.mutable_bytes())) {
      packet.set_checked();  // the sender is on this machine, so no byte has changed
      ++queue.rx_checksums_finished;
    }
    frames[kept++] = packet.release();
  }
  return kept;
}

InterfaceView EthDevice::view() const {
  InterfaceView view;
  rte_eth_link link{};
  view.is_running = rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
  const bool is_known = link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  view.megabits = is_known ? link.link_speed : 0;
  return view;
}

std::uint64_t EthDevice::missed(unsigned) const {
  const PortStats stats = EthDevice::device_stats();
  return stats.rx_missed + stats.rx_no_buffer;
}

// The DeviceSender counts the sent frames, since a device may count a large frame as one.
PortStats EthDevice::queue_stats(unsigned queue) const {
  const Queue& q = queues_[queue];
  const DeviceSender::Counters& out = q.sender.counters();
  PortStats stats;
  stats.rx_merged = q.rx_merged;
  stats.rx_joined = q.rx_joined;
  stats.rx_checksums_finished = q.rx_checksums_finished;
  stats.rx_checksums_verified = q.rx_checksums_verified;
  stats.tx_frames = out.frames;
  stats.tx_bytes = out.bytes;
  stats.tx_large = out.large;
  stats.tx_errors = out.refused;
  return stats;
}

PortStats EthDevice::device_stats() const {
  rte_eth_stats device{};
  {
    const std::lock_guard lock(stats_mutex_);
    rte_eth_stats_get(id_, &device);
  }
  PortStats stats;
  stats.rx_frames = device.ipackets;
  stats.rx_bytes = device.ibytes;
  stats.rx_missed = device.imissed;
  stats.rx_errors = device.ierrors;
  stats.rx_no_buffer = device.rx_nombuf;
  stats.tx_errors = device.oerrors;
  return stats;
}

}  // namespace satrelay::dpdk
