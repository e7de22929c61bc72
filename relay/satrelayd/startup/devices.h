// The resources that a gateway takes from the machine, in this order: the EAL, packets, both ports,
// and the memory for stored bytes.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "config/model/schema.h"
#include "relay/dpdk/device/eal.h"
#include "relay/dpdk/device/memory.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port.h"
#include "relay/machine/start_memory.h"

namespace satrelay::satrelayd {

// Thrown if a stop signal arrived before the gateway was ready.
struct StoppedAtStart {};

// Returns the memory that the gateway takes at its start, including the memory of packets.
machine::StartMemory memory_of(const config::Gateway& config);

struct Devices {
  // Takes the resources, and logs each step. Throws StoppedAtStart, or std::runtime_error if the
  // machine lacks something.
  explicit Devices(const config::Gateway& config);

  // The CPUs of this process except the workers' CPUs, for threads that must not take time from the
  // workers. They must be determined before the EAL starts, since the EAL pins the main thread.
  const std::vector<unsigned> other_cpus;
  const dpdk::Eal eal;
  dpdk::PacketPool pool;
  dpdk::Port lan;
  dpdk::Port wan;
  const std::array<dpdk::Port*, 2> ports{&lan, &wan};
  const Instant touching;  // time at which the touching of the memory began
  dpdk::LargeMemory memory;
};

}  // namespace satrelay::satrelayd
