#include "relay/dpdk/device/port.h"

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include "relay/dpdk/device/device_arguments.h"
#include "relay/dpdk/socket/fanout.h"
#include "relay/dpdk/socket/finish_checksum.h"
#include "relay/dpdk/socket/kernel_interface.h"
#include "relay/dpdk/socket/memif_socket.h"
#include "relay/dpdk/socket/own_sockets.h"
#include "relay/dpdk/socket/packet_socket.h"
#include "relay/dpdk/socket/socket_receiver.h"
#include "relay/dpdk/socket/socket_sender.h"

namespace satrelay::dpdk {

// A packet socket with its receiver and its sender.
struct SocketPort {
  SocketPort(unsigned index, unsigned queues, const config::Port& config, PacketPool& pool)
      : socket(index, queues),
        receiver(socket.descriptor(), pool, config.mtu),
        sender(socket.descriptor(), config.large_frames ? SocketSender::LargeFrames::kWhereTaken
                                                        : SocketSender::LargeFrames::kNever) {}
  PacketSocket socket;
  SocketReceiver receiver;
  SocketSender sender;
};

namespace {

constexpr std::uint16_t kDescriptors = 2048;
// Bytes that frames may have beyond the MTU. Some devices add room for tags themselves, some do
// not.
constexpr std::uint16_t kTwoTags = 8;

bool is_kernel_driven(config::Driver driver) {
  return driver == config::Driver::kAfPacket || driver == config::Driver::kAfXdp;
}

// The name of the device in the log.
const std::string& device_name(const config::Port& config) {
  if (is_kernel_driven(config.driver)) return config.interface;
  return config.driver == config::Driver::kPci ? config.pci : config.socket;
}

// Most buffers of a large frame, if the driver names no limit.
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

std::string advice_for(config::Driver driver) {
  switch (driver) {
    case config::Driver::kAfPacket:
      return "needs CAP_NET_RAW and CAP_NET_ADMIN: run as root";
    case config::Driver::kAfXdp:
      return "needs root, a kernel with XDP sockets and a free queue 0; try driver: af_packet";
    case config::Driver::kMemif:
      return "the directory of the socket must exist; each end needs the other role";
    case config::Driver::kPci:
      return "bind the device to vfio-pci first (see: deploy/bind-ports.sh)";
  }
  return "";
}

}  // namespace

Port::Port(const std::string& name, const config::Port& config, PacketPool& pool,
           const Spread& spread)
    : name_(name),
      config_(config),
      mtu_(config.mtu),
      is_pci_(config.driver == config::Driver::kPci),
      spread_(spread),
      watch_(device_name(config)) {
  try {
    if (is_kernel_driven(config_.driver)) {
      KernelInterface interface(config_.interface);
      notices_ = interface.prepare(mtu_);
      index_ = interface.index();
      mac_ = interface.mac();
    }
    if (config_.driver == config::Driver::kAfPacket) {
      open_sockets(pool);
    } else {
      if (config_.memif_server) remove_stale_memif_socket(config_.socket);
      create_device();
      configure_device(pool);
    }
    link_ = ask_driver();
  } catch (const std::exception& error) {
    if (is_vdev_) rte_eal_hotplug_remove("vdev", device_.c_str());
    throw std::runtime_error("port " + description() + ": " + error.what());
  }
}

Port::~Port() {
  if (is_socket()) return;
  if (started_) {
    rte_eth_promiscuous_disable(id_);
    rte_eth_dev_stop(id_);
  }
  rte_eth_dev_close(id_);
  if (is_vdev_) rte_eal_hotplug_remove("vdev", device_.c_str());
}

void Port::give_to(uid_t user) {
  if (config_.memif_server) give_memif_socket(config_.socket, user);
}

std::string Port::description() const { return name_ + ": " + describe(config_); }

void Port::open_sockets(PacketPool& pool) {
  std::vector<Queue> queues(spread_.queues);
  try {
    for (Queue& queue : queues) {
      queue.socket = std::make_unique<SocketPort>(index_, spread_.queues, config_, pool);
      queue.wait_descriptor = queue.socket->socket.descriptor();
    }
    if (queues.size() > 1) {
      std::optional<Fanout> group;
      for (const Queue& queue : queues) {
        if (group) {
          group->add(*queue.wait_descriptor);
        } else {
          group.emplace(*queue.wait_descriptor, spread_);
        }
      }
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string(error.what()) + "; " + advice_for(config_.driver));
  }
  queues_ = std::move(queues);
  sums_tcp_ = config_.large_frames;
  const std::size_t granted = queues_.front().socket->socket.receive_buffer();
  const std::size_t wanted = PacketSocket::receive_buffer_of(spread_.queues);
  if (granted < wanted) {
    notices_.push_back("the kernel keeps only " + std::to_string(granted >> 10) +
                       " KiB of frames that wait for this port; run as root, or set sysctl "
                       "net.core.rmem_max=" +
                       std::to_string(wanted / 2));
  }
}

void Port::create_device() {
  // A PCI device cannot address packets on normal pages.
  if (is_pci_ && rte_eal_has_hugepages() == 0) {
    throw std::runtime_error(
        "a PCI device needs hugepages for its packets, and too few are free; reserve some: "
        "deploy/bind-ports.sh --hugepages MIB bind, or hugepages= on the kernel's command line");
  }
  const DeviceArguments device = device_arguments(name_, config_);
  device_ = device.device;
  if (config_.driver != config::Driver::kPci) {
    const int result = rte_eal_hotplug_add("vdev", device_.c_str(), device.arguments.c_str());
    if (result != 0) {
      throw std::runtime_error(std::string("cannot open the device: ") + rte_strerror(-result) +
                               "; " + advice_for(config_.driver));
    }
    is_vdev_ = true;
  }
  if (rte_eth_dev_get_port_by_name(device_.c_str(), &id_) != 0) {
    throw std::runtime_error("DPDK has no such device; " + advice_for(config_.driver));
  }
}

void Port::configure_device(PacketPool& pool) {
  const auto check = [](int result, const char* what) {
    if (result < 0) throw std::runtime_error(std::string(what) + ": " + rte_strerror(-result));
  };
  rte_eth_dev_info info{};
  check(rte_eth_dev_info_get(id_, &info), "cannot read the device's limits");

  rte_eth_conf conf{};
  DeviceSender::Abilities abilities;
  if (config_.driver == config::Driver::kPci) {
    if (mtu_ > info.max_mtu) {
      throw std::runtime_error("the device takes an MTU of at most " +
                               std::to_string(info.max_mtu) + "; set a smaller mtu");
    }
    conf.rxmode.mtu = std::min<std::uint32_t>(mtu_ + kTwoTags, info.max_mtu);
    conf.rxmode.offloads = receive_offloads(info.rx_offload_capa);
    abilities = send_abilities(info);
    conf.txmode.offloads = offloads_of(abilities);
  } else if (config_.driver == config::Driver::kAfXdp && mtu_ > info.max_mtu) {
    throw std::runtime_error("af_xdp takes an MTU of at most " + std::to_string(info.max_mtu) +
                             " here; set a smaller mtu or driver: af_packet");
  }
  const std::vector<int> sockets_before = own_sockets(AF_XDP);
  // Frames must pass untouched, so no offload strips tags or merges frames.
  const auto queues = static_cast<std::uint16_t>(queues_of(info, conf));
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
  started_ = true;
  queues_ = std::vector<Queue>(queues);
  for (std::uint16_t i = 0; i < queues; ++i) queues_[i].sender.emplace(id_, i, abilities);
  sums_tcp_ = abilities.sums_tcp;
  if (config_.driver == config::Driver::kAfXdp) {
    // The driver does not report the socket that it has opened for the queue.
    for (const int descriptor : own_sockets(AF_XDP)) {
      if (!std::ranges::binary_search(sockets_before, descriptor))
        queues_[0].wait_descriptor = descriptor;
    }
  }
  const int promiscuous = rte_eth_promiscuous_enable(id_);
  if (promiscuous != 0 && config_.driver != config::Driver::kMemif) {
    notices_.push_back(std::string("cannot make the device promiscuous: ") +
                       rte_strerror(-promiscuous) + "; frames for other hosts will not arrive");
  }
}

std::uint64_t Port::receive_offloads(std::uint64_t offered) {
  constexpr std::uint64_t kChecksums = RTE_ETH_RX_OFFLOAD_TCP_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  if ((offered & kChecksums) == kChecksums) return kChecksums;
  missing_offloads_.emplace_back("the check of TCP and UDP checksums on receive");
  return 0;
}

DeviceSender::Abilities Port::send_abilities(const rte_eth_dev_info& info) {
  DeviceSender::Abilities abilities;
  const auto offers = [&](std::uint64_t all) { return (info.tx_offload_capa & all) == all; };
  if (!offers(RTE_ETH_TX_OFFLOAD_TCP_CKSUM)) {
    missing_offloads_.emplace_back("the sum of TCP checksums on sending");
    return abilities;
  }
  if (!config_.large_frames) return abilities;
  abilities.sums_tcp = true;
  abilities.sums_ip = offers(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM);
  if (offers(RTE_ETH_TX_OFFLOAD_TCP_TSO | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)) {
    const std::uint16_t most = info.tx_desc_lim.nb_seg_max;  // 0: the driver does not say
    abilities.pieces = most == 0 ? kFewPieces : std::min<std::size_t>(most, Burst::kCapacity);
  }
  return abilities;
}

int Port::numa_node() const { return is_pci_ ? rte_eth_dev_socket_id(id_) : -1; }

// Sets up the spreading of frames by the hash of the workers. The device looks up the queue by the
// low bits of the hash. A device with too few queues gets one. A device without this hash gives all
// frames to the first queue, or spreads them in its own way.
unsigned Port::queues_of(const rte_eth_dev_info& info, rte_eth_conf& conf) {
  constexpr std::uint64_t kKinds = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                                   RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |
                                   RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;
  if (spread_.queues == 1) return 1;
  if (info.max_rx_queues < spread_.queues || info.max_tx_queues < spread_.queues) return 1;
  if ((info.flow_type_rss_offloads & kKinds) == 0) return spread_.queues;
  rss_key_.resize(info.hash_key_size == 0 ? 40 : info.hash_key_size);
  for (std::size_t i = 0; i < rss_key_.size(); ++i) {
    rss_key_[i] = static_cast<std::uint8_t>(i % 2 == 0 ? kSpreadKey >> 8 : kSpreadKey & 0xff);
  }
  conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  conf.rx_adv_conf.rss_conf = {.rss_key = rss_key_.data(),
                               .rss_key_len = static_cast<std::uint8_t>(rss_key_.size()),
                               .rss_hf = info.flow_type_rss_offloads & kKinds};
  return spread_.queues;
}

std::size_t Port::receive(Burst& burst, unsigned queue) {
  Queue& q = queues_[queue];
  if (q.socket) return q.socket->receiver.receive(burst);
  if (burst.begin_ != 0) burst.compact();
  const std::size_t room = Burst::kCapacity - burst.end_;
  rte_mbuf** const first = burst.packets_.data() + burst.end_;
  const std::size_t count = rte_eth_rx_burst(id_, static_cast<std::uint16_t>(queue), first,
                                             static_cast<std::uint16_t>(room));
  // Not every driver sets the port.
  for (std::size_t i = 0; i < count; ++i) first[i]->port = id_;
  const std::size_t whole = finish(first, count, q);
  burst.end_ += whole;
  return whole;
}

std::size_t Port::finish(rte_mbuf** frames, std::size_t count, Queue& queue) {
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
    // Several drivers mark a checksum as good that the device has not checked, since it did not
    // recognize the packet.
    if (packet.checksum_is_verified() && !packet.is_plain_transport()) packet.set_unchecked();
    if (packet.checksum_is_verified()) {
      ++queue.rx_checksums_verified;
    } else if (packet.checksum_is_unfinished() && finish_checksum(packet.mutable_bytes())) {
      packet.set_checked();  // the sender vouches for it
      ++queue.rx_checksums_finished;
    }
    frames[kept++] = packet.release();
  }
  return kept;
}

std::size_t Port::send(Burst& burst, unsigned queue) {
  Queue& q = queues_[queue];
  const std::size_t offered = burst.size();
  if (offered == 0) return 0;
  if (is_off_.load(std::memory_order_relaxed)) [[unlikely]] {
    while (!burst.empty()) static_cast<void>(burst.pop());
    q.tx_down += offered;
    return offered;
  }
  if (q.socket) return q.socket->sender.send(burst, q.socket->socket.changes());
  return q.sender->send(burst);
}

MacAddress Port::mac() const {
  if (is_socket()) return mac_;
  MacAddress result;
  rte_ether_addr address{};
  if (rte_eth_macaddr_get(id_, &address) == 0) {
    std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), result.octets.begin());
  }
  return result;
}

LinkState Port::ask_driver() const {
  if (is_kernel_driven(config_.driver)) {
    // The drivers' own answer is constant.
    const InterfaceView now_is = view();
    return {.up = now_is.is_running, .gone = !now_is.is_there, .megabits = now_is.megabits};
  }
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(id_, &link) != 0) return {};
  const bool known = link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  return {.up = link.link_status == RTE_ETH_LINK_UP,
          .gone = false,
          .megabits = known ? link.link_speed : 0};
}

InterfaceView Port::view() const {
  InterfaceView view;
  view.name = interface_name(index_);
  try {
    // A new interface may have the index of the old one. Only the socket shows the difference.
    if (!view.name.empty() && (!is_socket() || queues_[0].socket->socket.is_bound())) {
      const KernelInterface interface(view.name);
      view.is_enabled = interface.is_enabled();
      view.is_running = view.is_enabled && interface.is_running();
      view.megabits = interface.megabits();
      return view;
    }
  } catch (const std::exception&) {
    // The interface has just vanished.
  }
  view = {
      .is_there = false, .name = "", .is_enabled = false, .is_running = false, .objections = {}};
  try {
    const KernelInterface successor(config_.interface);
    view.objections = successor.objections(mtu_);
    if (!is_socket()) view.objections.emplace_back("is not the one that af_xdp has opened");
    // The kernel does not bind a socket of a fanout group to another interface.
    if (queues() > 1) view.objections.emplace_back("is not the one that the workers share");
    view.has_successor = true;
  } catch (const std::exception&) {
    // No interface has the configured name.
  }
  return view;
}

void Port::bind_to_successor(Instant now) {
  try {
    const unsigned index = KernelInterface(config_.interface).index();
    queues_[0].socket->socket.bind_to(index);
    index_ = index;
    watch_.bound();
  } catch (const std::exception& error) {
    watch_.could_not_bind(error.what(), now);
  }
}

std::vector<PortChange> Port::look(Instant now) {
  InterfaceView now_is;
  if (is_kernel_driven(config_.driver)) {
    now_is = view();
  } else {
    const LinkState link = ask_driver();
    now_is.is_running = link.up;
    now_is.megabits = link.megabits;
  }
  if (watch_.look(now_is, now) == InterfaceWatch::Next::kBind) {
    bind_to_successor(now);
    now_is = view();
    watch_.look(now_is, now);
  }
  if (is_socket() && now_is.is_running && !link().up) {
    for (const Queue& queue : queues_) queue.socket->socket.note_change();
  }
  link_ = LinkState{.up = now_is.is_running, .gone = watch_.is_gone(), .megabits = now_is.megabits};
  // A device without a link would send its queue later, when the frames are of no use any more. The
  // kernel would say that it has no room.
  const bool is_unplugged = (is_pci_ || is_socket()) && !now_is.is_running;
  is_off_ = watch_.is_gone() || !now_is.is_enabled || is_unplugged;
  needs_new_start_ = watch_.needs_new_start();
  return watch_.take_changes();
}

std::uint64_t Port::missed(unsigned queue) const {
  const PortStats now_is = is_socket() ? queue_stats(queue) : device_stats();
  return now_is.rx_missed + now_is.rx_no_buffer;
}

PortStats Port::queue_stats(unsigned queue) const {
  const Queue& q = queues_[queue];
  PortStats stats;
  stats.rx_merged = q.rx_merged;
  stats.rx_joined = q.rx_joined;
  stats.rx_checksums_finished = q.rx_checksums_finished;
  stats.rx_checksums_verified = q.rx_checksums_verified;
  stats.tx_down = q.tx_down;
  // Take these counts from the sender: a device may count a large frame as one.
  const auto add_sent = [&](const auto& out) {
    stats.tx_frames = out.frames;
    stats.tx_bytes = out.bytes;
    stats.tx_large = out.large;
  };
  if (!q.socket) {
    add_sent(q.sender->counters());
    stats.tx_errors = q.sender->counters().refused;
    return stats;
  }
  const SocketReceiver::Counters& in = q.socket->receiver.counters();
  const SocketSender::Counters& out = q.socket->sender.counters();
  add_sent(out);
  stats.tx_errors = out.errors;
  stats.tx_down += out.down;
  stats.rx_frames = in.frames;
  stats.rx_bytes = in.bytes;
  stats.rx_large = in.large;
  stats.rx_oversized = in.oversized;
  stats.rx_missed = q.socket->socket.dropped();
  stats.rx_no_buffer = in.no_buffer;
  stats.rx_merged += in.uncut + out.errors_of_receiver;
  stats.rx_checksums_finished += in.checksums_finished;
  return stats;
}

PortStats Port::device_stats() const {
  PortStats stats;
  if (is_socket()) return stats;
  rte_eth_stats device{};
  {
    const std::lock_guard lock(stats_mutex_);
    rte_eth_stats_get(id_, &device);
  }
  stats.rx_frames = device.ipackets;
  stats.rx_bytes = device.ibytes;
  stats.rx_missed = device.imissed;
  stats.rx_errors = device.ierrors;
  stats.rx_no_buffer = device.rx_nombuf;
  stats.tx_errors = device.oerrors;
  return stats;
}

PortStats Port::stats() const {
  PortStats stats = device_stats();
  for (unsigned i = 0; i < queues(); ++i) add_to(stats, queue_stats(i));
  return stats;
}

}  // namespace satrelay::dpdk
