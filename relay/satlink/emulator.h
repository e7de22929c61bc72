// Applies the link model to real frames between two ports, with one LinkDirection for each
// direction. The emulator owns the packets while they are in flight.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "config/model/link_model.h"
#include "config/model/schema.h"
#include "pep/base/counter_fields.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/link/link_direction.h"
#include "relay/satlink/control_command.h"
#include "relay/satlink/sizing.h"

namespace satrelay::satlink {

// Frames that are lost on this machine, in addition to frames that the model drops.
struct HostCounters {
  std::uint64_t dropped_no_buffer = 0;

  static constexpr std::array<CounterField<HostCounters>, 1> kFields{{
      {"dropped_no_buffer", &HostCounters::dropped_no_buffer,
       "a corrupt copy found no packet buffer"},
  }};
};
static_assert(lists_every_counter<HostCounters>());

class Emulator {
 public:
  // The times of the configuration's steps count from `zero`.
  Emulator(const config::SatLink& config, const Sizing& sizing, dpdk::PacketPool& pool,
           dpdk::Port& a, dpdk::Port& b, Instant zero);
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;
  ~Emulator();

  // Receives frames on both ports, and sends the frames that are due.
  dpdk::PollLoop::Round round(Instant now);

  void apply(const SetRate& command);
  void apply(const SetLoss& command);
  void apply(const SetOutage& command);

  const link::LinkDirection& a_to_b() const { return paths_[0].model; }
  const link::LinkDirection& b_to_a() const { return paths_[1].model; }
  const HostCounters& a_to_b_host() const { return paths_[0].host; }
  const HostCounters& b_to_a_host() const { return paths_[1].host; }

 private:
  struct Path {
    dpdk::Port& in;
    dpdk::Port& out;
    link::LinkDirection model;
    dpdk::Burst sending;  // due frames that the port has not taken yet
    HostCounters host;
  };
  bool receive(Path& path, Instant now);
  static void free_released(Path& path);
  void deliver(Path& path, Instant now);
  dpdk::Packet take(Path& path, const link::LinkDirection::Delivery& delivery);
  template <typename Change>
  void for_each(Side side, Change&& change);

  dpdk::PacketPool& pool_;
  Duration gather_;  // how long a due frame may wait to be sent together with others
  std::array<Path, 2> paths_;
  dpdk::Burst received_;
};

}  // namespace satrelay::satlink
