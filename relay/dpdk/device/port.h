// A network port, opened as configured: a packet socket of our own, or any DPDK device.
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
  bool gone = false;           // the kernel interface has vanished
  std::uint32_t megabits = 0;  // 0: unknown
};

struct SocketPort;

class Port {
 public:
  // Opens and starts the device, promiscuous, with spread.queues receive queues and as many send
  // queues. A device that does not have so many gets one. `name` is short and unique ("lan").
  // Throws std::runtime_error that says which port, what failed and what to do. Needs a running Eal
  // that was started with this port.
  Port(const std::string& name, const config::Port& config, PacketPool& pool,
       const Spread& spread = {});
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port();

  // One thread at a time may use a queue.
  unsigned queues() const { return static_cast<unsigned>(queues_.size()); }
  // Appends received frames to `burst`, up to its capacity; returns their number.
  std::size_t receive(Burst& burst, unsigned queue = 0);
  // Sends from the front of `burst`; returns the number of frames taken. The rest stays in the
  // burst. The port drops and counts frames if its interface is down or gone, or if its device has
  // no link, as an unplugged cable would.
  std::size_t send(Burst& burst, unsigned queue = 0);

  const std::string& name() const { return name_; }
  std::string description() const;  // "lan: af_packet on lan0"
  std::uint16_t mtu() const { return mtu_; }
  MacAddress mac() const;
  // The link at the last look().
  LinkState link() const { return link_.load(std::memory_order_relaxed); }
  // Looks at the device, off the data path: one thread calls this several times a second. Returns
  // the changes since the last look, in order. If another interface of the same name has replaced
  // the port's interface, the port uses the new one, if its driver can.
  std::vector<PortChange> look(Instant now);
  // True if only a new start can restore the port. Any thread.
  bool needs_new_start() const { return needs_new_start_.load(std::memory_order_relaxed); }
  // stats(): the counters of all queues and of the device, while no other thread uses a queue.
  // queue_stats(): those of one queue, by its thread. device_stats(): counts that the device keeps
  // for all queues together, by any thread.
  PortStats stats() const;
  PortStats queue_stats(unsigned queue) const;
  PortStats device_stats() const;
  // Frames that were lost for lack of room: in this queue if the port knows it, otherwise in all.
  std::uint64_t missed(unsigned queue = 0) const;
  // A descriptor for poll(2) that becomes readable when frames arrive. nullopt if the device has
  // none: then the worker must poll.
  std::optional<int> wait_descriptor(unsigned queue = 0) const {
    return queues_[queue].wait_descriptor;
  }
  // Call this before the process changes to another user. It gives that user the files that it must
  // reach by their path.
  void give_to(uid_t user);
  // True if the port completes TCP checksums of frames that it sends (Packet::leave_checksum()).
  bool sums_tcp() const { return sums_tcp_; }
  // The NUMA node of a PCI device. -1: unknown, or not a PCI device.
  int numa_node() const;
  // Offloads that the worker wants and a PCI device lacks, in words. Empty for other ports.
  const std::vector<std::string>& missing_offloads() const { return missing_offloads_; }
  // Notices to the operator about this port, one sentence each, found while opening it.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  struct Queue {
    std::unique_ptr<SocketPort> socket;  // for af_packet, which is not a device of DPDK
    std::optional<DeviceSender> sender;
    std::optional<int> wait_descriptor;
    // Counters of frames that a device has delivered, and of frames that were not sent.
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
  // The number of queues: as many as requested, or one.
  unsigned queues_of(const rte_eth_dev_info& info, rte_eth_conf& conf);
  InterfaceView view() const;
  void bind_to_successor(Instant now);
  LinkState ask_driver() const;
  // The offloads to request from a PCI device. Notes the offloads that it lacks.
  std::uint64_t receive_offloads(std::uint64_t offered);
  // The same on the way out.
  DeviceSender::Abilities send_abilities(const rte_eth_dev_info& info);
  // Keeps those of `count` frames from a device that are whole, at the front; returns their number.
  // Completes checksums that a host has left to its virtual network card.
  static std::size_t finish(rte_mbuf** frames, std::size_t count, Queue& queue);

  std::string name_;
  config::Port config_;
  std::uint16_t mtu_;
  std::string device_;    // name of the vdev, or PCI address
  std::uint16_t id_ = 0;  // DPDK's number of the port
  bool is_vdev_ = false;
  bool started_ = false;
  bool is_pci_ = false;
  bool sums_tcp_ = false;
  Spread spread_;
  std::vector<Queue> queues_;
  std::vector<std::uint8_t> rss_key_;
  unsigned index_ = 0;    // index of the kernel interface
  MacAddress mac_;        // its address when it was opened
  InterfaceWatch watch_;  // for the thread that calls look()
  std::atomic<LinkState> link_;
  std::atomic<bool> is_off_ = false;  // drop frames: the kernel or the device would keep them
  std::atomic<bool> needs_new_start_ = false;
  mutable std::mutex stats_mutex_;  // drivers sum up registers that restart when read
  std::vector<std::string> notices_;
  std::vector<std::string> missing_offloads_;
};

}  // namespace satrelay::dpdk
