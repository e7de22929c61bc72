// A network port: the device that the configuration names, its link, and its counters.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "pep/base/time.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/dpdk/device/spread.h"
#include "relay/dpdk/drivers/device.h"
#include "relay/dpdk/socket/interface_watch.h"

namespace satrelay::dpdk {

struct LinkState {
  bool up = false;
  bool gone = false;           // the kernel interface has vanished
  std::uint32_t megabits = 0;  // speed in Mbit/s; 0 if it is unknown
};

class Port {
 public:
  // Opens and starts the device in promiscuous mode, with spread.queues receive queues and as many
  // send queues. If the device supports fewer queues, it gets one receive queue and one send queue.
  // `name` is short and unique ("lan"). Throws std::runtime_error that says which port, what failed
  // and what to do. Needs a running Eal that was started with this port.
  Port(const std::string& name, const config::Port& config, PacketPool& pool,
       const Spread& spread = {});
  // Uses a device that is open already.
  Port(const std::string& name, const config::Port& config, std::unique_ptr<Device> device);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  // The number of queues. Only one thread at a time may use a queue.
  unsigned queues() const { return device_->queues(); }
  // Until this call, a port on packet sockets ignores all frames: the kernel may forward them
  // meanwhile. Call it once, before the first receive().
  void begin_to_receive() { device_->begin_to_receive(); }
  // Appends received frames to `burst`, up to its capacity; returns their number.
  std::size_t receive(Burst& burst, unsigned queue = 0) { return device_->receive(burst, queue); }
  // Sends frames from the front of `burst`. Returns the number of frames that were sent or dropped.
  // The other frames stay in the burst. The port drops and counts frames if its interface is down
  // or gone. It also drops them if there is no link and the device would keep the frames until the
  // link is back.
  std::size_t send(Burst& burst, unsigned queue = 0);

  const std::string& name() const { return name_; }
  std::string description() const;  // such as "lan: af_packet on lan0"
  std::uint16_t mtu() const { return config_.mtu; }
  MacAddress mac() const { return device_->mac(); }
  // State of the link at the last look().
  LinkState link() const { return link_.load(std::memory_order_relaxed); }
  // Inspects the device. A single thread, which is not a worker, must call this several times a
  // second. Returns the changes since the last call, in order. If another interface of the same
  // name has replaced the port's interface, and the driver supports it, the port binds to the new
  // interface.
  std::vector<PortChange> look(Instant now);
  // `prepare` sets up an interface that has replaced the port's own. look() calls it once a second
  // while there is such an interface that the port is not bound to. Call this before look().
  void set_preparation(std::function<void()> prepare) { prepare_ = std::move(prepare); }
  // True if only a restart of the program can restore the port. Any thread may call this.
  bool needs_new_start() const { return needs_new_start_.load(std::memory_order_relaxed); }
  // stats() adds up the counters of all queues and of the device. Call it only while no other
  // thread uses a queue. queue_stats() is for the thread that uses the queue. device_stats() has
  // the counters that the device keeps for all queues together, and any thread may call it.
  PortStats stats() const;
  PortStats queue_stats(unsigned queue) const;
  PortStats device_stats() const { return device_->device_stats(); }
  // Number of received frames that were lost because there was no room. If the device does not
  // count them by queue, this is the number for all queues.
  std::uint64_t missed(unsigned queue = 0) const { return device_->missed(queue); }
  // A descriptor for poll(2) that becomes readable when frames arrive. nullopt if the device has
  // none: the worker must then poll the port.
  std::optional<int> wait_descriptor(unsigned queue = 0) const {
    return device_->wait_descriptor(queue);
  }
  // Call this before the process changes to another user. Makes that user the owner of the files
  // that the port must later reach by their path.
  void give_to(uid_t user) { device_->give_to(user); }
  // True if the port completes TCP checksums of frames that it sends (Packet::leave_checksum()).
  bool sums_tcp() const { return device_->facts().sums_tcp; }
  // The NUMA node of a PCI device; -1 if it is unknown, or for other devices.
  int numa_node() const { return device_->facts().numa_node; }
  // Names of the offloads that the worker could use but that the PCI device lacks. Empty for other
  // devices.
  const std::vector<std::string>& missing_offloads() const {
    return device_->facts().missing_offloads;
  }
  // Notices to the operator from the opening of the port, one sentence each.
  const std::vector<std::string>& notices() const { return device_->facts().notices; }
  // The settings of the machine that the opening has changed, one sentence each.
  const std::vector<std::string>& changes() const { return device_->facts().changes; }

 private:
  void bind_to_successor(Instant now);
  InterfaceView view(Instant now);

  std::string name_;
  config::Port config_;
  std::unique_ptr<Device> device_;
  std::vector<std::uint64_t> tx_down_;  // indexed by queue: frames that the port itself has dropped
  InterfaceWatch watch_;                // used only by the thread that calls look()
  std::function<void()> prepare_;       // may be empty
  Instant next_preparation_;
  std::atomic<LinkState> link_;
  // True if send() must drop frames, since they cannot be sent now.
  std::atomic<bool> is_off_ = false;
  std::atomic<bool> needs_new_start_ = false;
};

}  // namespace satrelay::dpdk
