// Drives one engine between two ports: receive, decide, send, pause. Of several workers of a
// gateway each has an engine, and a queue of each port; what one has received for another one goes
// there by the hand-over (relay/gateway/steering/steering.h says whose it is).
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
  // Of several workers.
  struct Team {
    unsigned index = 0;
    Handover& handover;
    gateway::Steering steering;  // of what this one receives
  };
  // All must outlive the worker.
  Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
         CaptureTap& tap, std::optional<Team> team = std::nullopt);

  // Leaves a record there of each flow that ends; counts those that find no room. It must outlive
  // the worker.
  void record_flows(records::RecordRing& ring);
  void handle_end(const gateway::FlowRecord& record) override;

  // One turn: everything that has come and is due, within a bound. `rest`: how long the worker has
  // meant to do nothing since the last one.
  dpdk::PollLoop::Round round(Instant now, Duration rest = {});
  // Before a round, and before anything that others ring for is looked for: whoever rings later
  // ends the next rest at once.
  void answer_bell(Duration rest);
  // What the round before took, with all that its thread did in it.
  void note_round(Duration length) {
    rounds_.add(static_cast<std::uint64_t>(length.to_nanoseconds()));
  }

  // What could not leave by a port, monotonic.
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
  // Writing frames and handing them over takes less.
  static constexpr Duration kLateSending = Duration::milliseconds(1);
  using Packets = std::array<dpdk::Packet, dpdk::Burst::kCapacity>;
  struct Side {
    gateway::PortId id;
    dpdk::Port* port;
    std::optional<unsigned> queue;  // nullopt: the first worker receives and sends
    dpdk::Burst out{};              // what the port has not taken yet
    Drops drops{};
  };
  // Which frames of a port somebody wants to see.
  static ops::CapturePlace place_of(const Side& side) {
    return side.id == gateway::PortId::kLan ? ops::CapturePlace::kLan : ops::CapturePlace::kWan;
  }
  void see_plain(gateway::LinkWay way, ConstBytes frame) override;
  void put_out(Side& side, dpdk::Packet packet);
  unsigned index() const { return team_ ? team_->index : 0; }
  Side& side(gateway::PortId id) { return id == gateway::PortId::kLan ? lan_ : wan_; }
  bool receive(Side& from);
  // `looks`: at each of them, or empty.
  void handle(Side& from, Packets& packets, std::size_t count,
              std::span<gateway::Frame> looks = {});
  // (worker_team.cc) `looks_` has those at what it keeps.
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
  std::uint32_t to_wake_ = 0;  // of the others, by number
  bool shows_plain_ = false;
  dpdk::PacketPool& pool_;
  CaptureTap& tap_;
  records::RecordRing* records_ = nullptr;
  Instant now_;                                          // of the present round
  PollGap poll_gap_;                                     // to the WAN port
  Duration waited_;                                      // at that port, what has come last
  std::uint64_t missed_ = 0;                             // by it, of this worker's queue
  Instant missed_at_;                                    // when it was last asked for that
  std::vector<std::optional<std::uint64_t>> missed_by_;  // by other worker, as seen last
  // By giver: of what was taken to be sent by the WAN and may not have left, since when the first
  // of it was given.
  std::vector<Instant> given_since_;
  std::uint64_t missed_by_others_ = 0;  // of what was for this one
  Side lan_;
  Side wan_;
  dpdk::Burst in_;
  std::array<gateway::Frame, dpdk::Burst::kCapacity> looks_;  // of a team
  // Allocated, but the engine had nothing to write.
  std::array<dpdk::Packet, dpdk::Burst::kCapacity> spares_;
  std::vector<dpdk::Packet> held_{gateway::Gateway::kMostHeldFrames};  // by the engine's slots
};

}  // namespace satrelay::satrelayd
