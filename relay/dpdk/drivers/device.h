// The interface of the device behind a port. There is a class for packet sockets of our own, and
// one for each kind of DPDK device. Port has the code that is common to all of them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/address.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port_stats.h"
#include "relay/dpdk/device/spread.h"
#include "relay/dpdk/socket/interface_watch.h"

namespace satrelay::dpdk {

// Properties that are known once the device is open, and never change.
struct DeviceFacts {
  bool sums_tcp = false;  // the device completes TCP checksums of frames that it sends
  // True if the device keeps frames while there is no link, and sends the outdated frames when the
  // link is back.
  bool keeps_frames = false;
  int numa_node = -1;                // NUMA node of a PCI device; -1 if it is unknown
  std::vector<std::string> notices;  // notices to the operator, one sentence each
  // Settings of the machine that the device has changed, one sentence each.
  std::vector<std::string> changes;
  // Names of the offloads that the worker could use but that the device lacks.
  std::vector<std::string> missing_offloads;
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  virtual unsigned queues() const = 0;
  virtual MacAddress mac() const = 0;
  // A descriptor for poll(2) that becomes readable when frames arrive; nullopt if there is none.
  virtual std::optional<int> wait_descriptor(unsigned queue) const = 0;

  // receive() and send() do the same as the functions of Port. The caller must not send an empty
  // burst. Only one thread at a time may use a queue.
  virtual std::size_t receive(Burst& burst, unsigned queue) = 0;
  virtual std::size_t send(Burst& burst, unsigned queue) = 0;

  // queue_stats() is for the thread that uses the queue. device_stats() has the counters for all
  // queues together, and any thread may call it.
  virtual PortStats queue_stats(unsigned queue) const = 0;
  virtual PortStats device_stats() const = 0;
  // Number of received frames that were lost because there was no room. If the device does not
  // count them by queue, this is the number for all queues.
  virtual std::uint64_t missed(unsigned queue) const = 0;

  // Until this call the device may ignore all frames. Called once, before the first receive().
  virtual void begin_to_receive() {}

  // The current state of the device. view(), bind_to_successor() and on_up() are only called by the
  // thread that calls Port::look().
  virtual InterfaceView view() const = 0;
  // Binds the device to the interface that has replaced its own. Throws std::runtime_error if that
  // fails.
  virtual void bind_to_successor() {}
  // Called when the link has come up.
  virtual void on_up() {}

  // Makes `user` the owner of the files that the device must later reach by their path.
  virtual void give_to(uid_t user) { (void)user; }

 protected:
  Device() = default;

  DeviceFacts facts_;
};

// Opens and starts the device of a port. Throws std::runtime_error that says what failed and what
// to do. `name`: the name of the port.
std::unique_ptr<Device> open_device(const std::string& name, const config::Port& config,
                                    PacketPool& pool, const Spread& spread);

}  // namespace satrelay::dpdk
