// The contract of the device behind a port. There is a class for each driver: a packet socket of
// our own, or a device of DPDK. Port has all that is common to them.
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

// The properties that a device has from its opening on.
struct DeviceFacts {
  bool sums_tcp = false;  // it completes TCP checksums of frames that it sends
  // Without a link it would send its queue later, when the frames are of no use any more.
  bool keeps_frames = false;
  int numa_node = -1;                         // of a PCI device; -1: unknown
  std::vector<std::string> notices;           // to the operator, one sentence each
  std::vector<std::string> missing_offloads;  // in words
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  virtual unsigned queues() const = 0;
  virtual MacAddress mac() const = 0;
  // A descriptor for poll(2) that becomes readable when frames arrive; nullopt: there is none.
  virtual std::optional<int> wait_descriptor(unsigned queue) const = 0;

  // As those of Port; one call moves a whole burst. The burst to send is not empty. One thread at a
  // time may use a queue.
  virtual std::size_t receive(Burst& burst, unsigned queue) = 0;
  virtual std::size_t send(Burst& burst, unsigned queue) = 0;

  // Counters of one queue, by its thread; counts for all queues together, by any thread.
  virtual PortStats queue_stats(unsigned queue) const = 0;
  virtual PortStats device_stats() const = 0;
  // Frames that were lost for lack of room: in this queue if the device knows it, otherwise in all.
  virtual std::uint64_t missed(unsigned queue) const = 0;

  // The present state. Only the thread that calls Port::look() calls these three.
  virtual InterfaceView view() const = 0;
  // Uses the interface that has replaced the device's own. Throws std::runtime_error if it cannot.
  virtual void bind_to_successor() {}
  // The link has come up.
  virtual void on_up() {}

  // Gives the user the files that it must reach by their path.
  virtual void give_to(uid_t user) { (void)user; }

 protected:
  Device() = default;

  DeviceFacts facts_;
};

// Opens and starts the device of a port. Throws std::runtime_error that says what failed and what
// to do. `name` is that of the port.
std::unique_ptr<Device> open_device(const std::string& name, const config::Port& config,
                                    PacketPool& pool, const Spread& spread);

}  // namespace satrelay::dpdk
