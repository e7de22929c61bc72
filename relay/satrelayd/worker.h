// Drives one gateway between two ports: receive, decide, send, pause.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pep/base/time.h"
#include "relay/dpdk/burst.h"
#include "relay/dpdk/packet_pool.h"
#include "relay/dpdk/poll_loop.h"
#include "relay/dpdk/port.h"
#include "relay/gateway/gateway.h"
#include "relay/satrelayd/attendance.h"
#include "relay/satrelayd/capture.h"

namespace satrelay::satrelayd {

class Worker final : private gateway::PlainObserver {
 public:
  // All must outlive the worker.
  Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
         CaptureTap& tap);

  // One turn: everything that has come and is due, within a bound. `rest`: how long the worker has
  // meant to do nothing since the last one.
  dpdk::PollLoop::Round round(Instant now, Duration rest = {});

  // What could not leave by a port, monotonic.
  struct Drops {
    std::uint64_t no_buffer = 0;        // times that no packet buffer was free for a frame to send
    std::uint64_t bridge_overflow = 0;  // bridged frames that found the port full
  };
  const Drops& drops(gateway::PortId port) const {
    return port == gateway::PortId::kLan ? lan_.drops : wan_.drops;
  }

 private:
  struct Side {
    gateway::PortId id;
    dpdk::Port* port;
    dpdk::Burst out{};  // what the port has not taken yet
    Drops drops{};
  };
  // Which frames of a port somebody wants to see.
  static ops::CapturePlace place_of(const Side& side) {
    return side.id == gateway::PortId::kLan ? ops::CapturePlace::kLan : ops::CapturePlace::kWan;
  }
  void see_plain(gateway::LinkWay way, ConstBytes frame) override;
  void put_out(Side& side, dpdk::Packet packet);
  bool receive(Side& from, Side& to);
  void note_reception(std::size_t count, std::size_t room, Instant asked);
  bool send(Side& side);
  bool fill(Side& side);
  void bridge(Side& to, dpdk::Packet packet);

  gateway::Gateway& gateway_;
  dpdk::PacketPool& pool_;
  CaptureTap& tap_;
  Instant now_;            // of the present round
  Attendance attendance_;  // to the WAN port
  stp::Reception reception_;
  Instant missed_at_;  // when that port was last asked what it has missed
  Side lan_;
  Side wan_;
  dpdk::Burst in_;
  // Allocated, but the engine had nothing to write.
  std::array<dpdk::Packet, dpdk::Burst::kCapacity> spares_;
  std::vector<dpdk::Packet> held_{gateway::Gateway::kMostHeldFrames};  // by the engine's slots
};

}  // namespace satrelay::satrelayd
