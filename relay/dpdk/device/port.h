// A network port, opened by its configuration: a packet socket of our own, or any DPDK device.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/device_sender.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/dpdk/device/spread.h"
#include "relay/dpdk/socket/interface_watch.h"

struct rte_eth_dev_info;
struct rte_eth_conf;

namespace satrelay::dpdk {

struct LinkState {
  bool up = false;
  bool gone = false;           // the kernel interface itself
  std::uint32_t megabits = 0;  // 0: unknown
};

struct SocketPort;

class Port {
 public:
  // Opens and starts the device, promiscuous, with `queues` each way (a power of two), or with one
  // if it does not have so many. `name` is short and unique ("lan"). Throws std::runtime_error that
  // says which port, what failed and what to do. Needs a running Eal that was told of this port.
  Port(const std::string& name, const config::Port& config, PacketPool& pool,
       const Spread& spread = {});
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port();

  // Each queue is one thread's at a time.
  unsigned queues() const { return static_cast<unsigned>(queues_.size()); }
  // Appends what has come to `burst`, up to its capacity; the number of frames.
  std::size_t receive(Burst& burst, unsigned queue = 0);
  // Sends from the front of `burst`; the number taken. The rest stays in the burst. What is sent to
  // an interface that is off or gone, or to a device without a link, is taken, dropped and counted,
  // as by a cable that is out.
  std::size_t send(Burst& burst, unsigned queue = 0);

  const std::string& name() const { return name_; }
  std::string description() const;  // "lan: af_packet on lan0"
  std::uint16_t mtu() const { return mtu_; }
  MacAddress mac() const;
  // As the last look has found it.
  LinkState link() const { return link_.load(std::memory_order_relaxed); }
  // A look at the device, off the data path: one thread, several times a second. What has changed
  // since the last one, in order. A port whose interface was replaced by one of the same name goes
  // on with that one, if its driver can.
  std::vector<PortChange> look(Instant now);
  // The device has changed so that only a new start helps. Any thread.
  bool needs_new_start() const { return needs_new_start_.load(std::memory_order_relaxed); }
  // Of all its queues, while no other thread uses one; or of one queue, by its thread, and of the
  // device, of which these are all, by any thread.
  PortStats stats() const;
  PortStats queue_stats(unsigned queue) const;
  PortStats device_stats() const;
  // Of these, the frames for which there was no room: in this queue, as far as the port knows that,
  // else in all.
  std::uint64_t missed(unsigned queue = 0) const;
  // Becomes readable when frames have come, for poll(2); nullopt where the device has no such
  // thing and only polling tells.
  std::optional<int> wait_descriptor(unsigned queue = 0) const {
    return queues_[queue].wait_descriptor;
  }
  // Before this process becomes another user: what that one must reach by its path.
  void give_to(uid_t user);
  // Whether TCP checksums of what is sent may be left to it (Packet::leave_checksum()).
  bool sums_tcp() const { return sums_tcp_; }
  // The NUMA node of a PCI device; -1: unknown, or no such device.
  int numa_node() const;
  // What a PCI device cannot do for the worker, in words; of others nobody expects it.
  const std::vector<std::string>& missing_offloads() const { return missing_offloads_; }
  // What the operator should know about this port, one sentence each, found while opening it.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  struct Queue {
    std::unique_ptr<SocketPort> socket;  // af_packet, which has no device of DPDK's
    std::optional<DeviceSender> sender;
    std::optional<int> wait_descriptor;
    // Of what a device has delivered, and of what was not sent.
    std::uint64_t rx_merged = 0;
    std::uint64_t rx_joined = 0;
    std::uint64_t rx_checksums_finished = 0;
    std::uint64_t rx_checksums_verified = 0;
    std::uint64_t tx_down = 0;
  };
  bool is_socket() const { return queues_.front().socket != nullptr; }
  void open_sockets(PacketPool& pool);
  void create_device();
  void configure_device(PacketPool& pool);
  // As many as are asked for, or one.
  unsigned queues_of(const rte_eth_dev_info& info, rte_eth_conf& conf);
  InterfaceView view() const;
  void bind_to_successor(Instant now);
  LinkState ask_driver() const;
  // The offloads to ask a PCI device for; what it lacks is noted.
  std::uint64_t receive_offloads(std::uint64_t offered);
  // The same on the way out.
  DeviceSender::Abilities send_abilities(const rte_eth_dev_info& info);
  // Of `count` frames that a device has delivered, those that are whole, and how many these
  // are. Checksums that a host has left to its virtual card are complete then.
  static std::size_t finish(rte_mbuf** frames, std::size_t count, Queue& queue);

  std::string name_;
  config::Port config_;
  std::uint16_t mtu_;
  std::string device_;    // vdev name or PCI address
  std::uint16_t id_ = 0;  // of DPDK
  bool is_vdev_ = false;
  bool started_ = false;
  bool is_pci_ = false;
  bool sums_tcp_ = false;
  Spread spread_;
  std::vector<Queue> queues_;
  std::vector<std::uint8_t> rss_key_;
  unsigned index_ = 0;    // of the kernel interface
  MacAddress mac_;        // the same, as it was opened
  InterfaceWatch watch_;  // of the thread that looks
  std::atomic<LinkState> link_;
  std::atomic<bool> is_off_ = false;  // kernel or device would keep what is sent for later
  std::atomic<bool> needs_new_start_ = false;
  mutable std::mutex stats_mutex_;  // drivers add up registers that restart when read
  std::vector<std::string> notices_;
  std::vector<std::string> missing_offloads_;
};

}  // namespace satrelay::dpdk
