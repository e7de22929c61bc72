// Drives one engine between two ports: receive, decide, send, pause. Each of several workers of a
// gateway has an engine, and a queue of each port. A worker passes frames of other workers to them
// by the hand-over (relay/gateway/steering/steering.h names the worker of a frame).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pep/base/histogram.h"
#include "pep/base/time.h"
#include "relay/dpdk/device/burst.h"
#include "relay/dpdk/device/packet_pool.h"
#include "relay/dpdk/device/port.h"
#include "relay/dpdk/loop/poll_loop.h"
#include "relay/gateway/flows/flow_record.h"
#include "relay/gateway/frames/frame.h"
#include "relay/gateway/gateway.h"
#include "relay/gateway/steering/steering.h"
#include "relay/ops/stats/worker_counters.h"
#include "relay/records/record_ring.h"
#include "relay/satrelayd/commands/capture.h"
#include "relay/satrelayd/workers/handover.h"
#include "relay/satrelayd/workers/poll_gap.h"

namespace satrelay::satrelayd {

class Worker final : public gateway::FlowRecorder, private gateway::PlainObserver {
 public:
  // The worker's place among several workers.
  struct Team {
    unsigned index = 0;
    Handover& handover;
    gateway::Steering steering;  // for the frames that this worker receives
  };
  // All must outlive the worker.
  Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
         CaptureTap& tap, std::optional<Team> team = std::nullopt);

  // Puts a record of each flow that ends into `ring`; counts records that find no room. `ring` must
  // outlive the worker.
  void record_flows(records::RecordRing& ring);
  void handle_end(const gateway::FlowRecord& record) override;

  // Handles everything that has arrived or is due, within a bound. `rest`: how long the worker has
  // rested as planned since the last round.
  dpdk::PollLoop::Round round(Instant now, Duration rest = {});
  // Call this before a round, and before looking for any work that other threads announce: a later
  // wake() then ends the next rest at once.
  void answer_bell(Duration rest);
  // Notes the length of the previous round, with all work of its thread.
  void note_round(Duration length) {
    rounds_.add(static_cast<std::uint64_t>(length.to_nanoseconds()));
  }

  // Frames that could not leave by a port, monotonic.
  struct Drops {
    std::uint64_t no_buffer = 0;        // times that no packet buffer was free for a frame to send
    std::uint64_t bridge_overflow = 0;  // bridged frames that found the port full
  };
  const Drops& drops(gateway::PortId port) const {
    return port == gateway::PortId::kLan ? lan_.drops : wan_.drops;
  }
  const ops::WorkerCounters& counters() const { return counters_; }
  const Histogram& rounds() const { return rounds_; }  // ns

 private:
  // A frame that takes this long to leave is late: writing frames and handing them over takes less.
  static constexpr Duration kLateSending = Duration::milliseconds(1);
  using Packets = std::array<dpdk::Packet, dpdk::Burst::kCapacity>;
  struct Side {
    gateway::PortId id;
    dpdk::Port* port;
    std::optional<unsigned> queue;  // nullopt: the first worker receives and sends
    dpdk::Burst out{};              // frames that the port has not taken yet
    Drops drops{};
  };
  // The capture place of a port's frames.
  static ops::CapturePlace place_of(const Side& side) {
    return side.id == gateway::PortId::kLan ? ops::CapturePlace::kLan : ops::CapturePlace::kWan;
  }
  void see_plain(gateway::LinkWay way, ConstBytes frame) override;
  void put_out(Side& side, dpdk::Packet packet);
  unsigned index() const { return team_ ? team_->index : 0; }
  Side& side(gateway::PortId id) { return id == gateway::PortId::kLan ? lan_ : wan_; }
  bool receive(Side& from);
  // `looks`: each packet's headers if they are parsed already, or empty.
  void handle(Side& from, Packets& packets, std::size_t count,
              std::span<gateway::Frame> looks = {});
  // In worker_team.cc. `looks_` gets the parsed headers of the packets that the worker keeps.
  std::size_t keep_own(Side& from, Packets& packets, std::size_t count);
  void take_released(Side& from, Packets& own, std::size_t& count);
  void let_all_hear(Side& from, const dpdk::Packet& packet, unsigned except);
  bool give(unsigned to, Handover::Item item, dpdk::Packet& packet);
  void give_frame(unsigned to, gateway::PortId from, dpdk::Packet packet);
  bool take_over();
  bool take_over_from(unsigned other);
  void wake_others();
  std::size_t send_out(Side& side);
  void note_reception(std::size_t count, std::size_t room, Instant asked);
  void note_reception_of(unsigned other, Instant since);
  stp::Reception reception(Duration waited) const {
    return {.waited = waited, .missed = missed_ + missed_by_others_};
  }
  bool send(Side& side);
  void note_sending();
  void hear_of_late_sending();
  bool fill(Side& side);
  void bridge(Side& to, dpdk::Packet packet);
  bool make_room(Side& side);

  gateway::Gateway& gateway_;
  std::optional<Team> team_;
  ops::WorkerCounters counters_;
  Histogram rounds_{ops::kWorkerRound.bounds};
  std::uint32_t to_wake_ = 0;  // a bit for each worker
  bool shows_plain_ = false;
  dpdk::PacketPool& pool_;
  CaptureTap& tap_;
  records::RecordRing* records_ = nullptr;
  Instant now_;                                          // time in the present round
  PollGap poll_gap_;                                     // for the WAN port
  Duration waited_;                                      // wait there of the last burst
  std::uint64_t missed_ = 0;                             // frames missed in its own queue
  Instant missed_at_;                                    // when the port was last asked
  std::vector<std::optional<std::uint64_t>> missed_by_;  // by other worker: its last count
  // By giving worker: when it gave the first frame for the WAN that may not have left yet.
  std::vector<Instant> given_since_;
  std::uint64_t missed_by_others_ = 0;  // frames for this worker
  Side lan_;
  Side wan_;
  dpdk::Burst in_;
  std::array<gateway::Frame, dpdk::Burst::kCapacity> looks_;  // used if there is a team
  // Packets that were allocated, but that the engine has not used.
  std::array<dpdk::Packet, dpdk::Burst::kCapacity> spares_;
  std::vector<dpdk::Packet> held_{gateway::Gateway::kMostHeldFrames};  // by the engine's slots
};

}  // namespace satrelay::satrelayd
