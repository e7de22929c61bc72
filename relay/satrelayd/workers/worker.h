// Drives one engine between two ports: receives, decides, sends, pauses. If a gateway has several
// workers, each worker has an engine, and a queue of each port. A worker that receives a frame that
// belongs to another worker passes it on through the Handover. relay/gateway/steering/steering.h
// determines the worker of a frame.
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
  // For a gateway with several workers: this worker's index, and the means to pass frames.
  struct Team {
    unsigned index = 0;
    Handover& handover;
    gateway::Steering steering;  // finds the worker of each received frame
  };
  // The references must outlive the worker.
  Worker(gateway::Gateway& gateway, dpdk::Port& lan, dpdk::Port& wan, dpdk::PacketPool& pool,
         CaptureTap& tap, std::optional<Team> team = std::nullopt);

  // Puts a record of each flow that ends into `ring`. Counts the records that do not fit. `ring`
  // must outlive the worker.
  void record_flows(records::RecordRing& ring);
  void handle_end(const gateway::FlowRecord& record) override;

  // Handles frames that have arrived, and work that is due, up to a limit. `rest` is the time that
  // the worker has rested since the last round, without oversleeping.
  dpdk::PollLoop::Round round(Instant now, Duration rest = {});
  // Call this before a round, and before checking for work that other threads announce. Then a
  // later wake() ends the next rest at once.
  void answer_bell(Duration rest);
  // Adds the length of the previous round, including all other work of the thread, to the
  // histogram.
  void note_round(Duration length) {
    rounds_.add(static_cast<std::uint64_t>(length.to_nanoseconds()));
  }

  // Numbers of frames that could not be sent by a port, since the start.
  struct Drops {
    std::uint64_t no_buffer = 0;  // frames for which there was no free packet buffer
    // Bridged frames that were dropped because the port took no more frames.
    std::uint64_t bridge_overflow = 0;
  };
  const Drops& drops(gateway::PortId port) const {
    return port == gateway::PortId::kLan ? lan_.drops : wan_.drops;
  }
  const ops::WorkerCounters& counters() const { return counters_; }
  const Histogram& rounds() const { return rounds_; }  // durations of rounds, in ns

 private:
  // A frame counts as sent late if this much time passed before it was sent. The time begins with
  // the round in which the worker wrote the frame, or when another worker gave the frame.
  static constexpr Duration kLateSending = Duration::milliseconds(1);
  using Packets = std::array<dpdk::Packet, dpdk::Burst::kCapacity>;
  struct Side {
    gateway::PortId id;
    dpdk::Port* port;
    // nullopt if the first worker uses the port on behalf of this worker.
    std::optional<unsigned> queue;
    dpdk::Burst out{};  // frames that the port has not taken yet
    Drops drops{};
  };
  // Returns the place at which frames of this port are captured.
  static ops::CapturePlace place_of(const Side& side) {
    return side.id == gateway::PortId::kLan ? ops::CapturePlace::kLan : ops::CapturePlace::kWan;
  }
  void see_plain(gateway::LinkWay way, ConstBytes frame) override;
  void put_out(Side& side, dpdk::Packet packet);
  unsigned index() const { return team_ ? team_->index : 0; }
  Side& side(gateway::PortId id) { return id == gateway::PortId::kLan ? lan_ : wan_; }
  bool receive(Side& from);
  // `looks` are the parsed headers of each packet. It is empty if the packets are not parsed yet.
  void handle(Side& from, Packets& packets, std::size_t count,
              std::span<gateway::Frame> looks = {});
  // The following functions are in worker_team.cc. keep_own() stores into looks_ the parsed headers
  // of the packets that this worker keeps.
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
  std::uint32_t to_wake_ = 0;  // workers to wake after the round: a set with one bit for each
  bool shows_plain_ = false;
  dpdk::PacketPool& pool_;
  CaptureTap& tap_;
  records::RecordRing* records_ = nullptr;
  Instant now_;               // time of the present round
  PollGap poll_gap_;          // measures how long frames waited in the WAN port
  Duration waited_;           // longest time that the last burst may have waited in the WAN port
  std::uint64_t missed_ = 0;  // number of frames missed in the worker's own queue
  // Time at which the port was last asked for its number of missed frames.
  Instant missed_at_;
  // For each other worker, the number of frames for this worker that it has missed or lost, as last
  // read from the Handover.
  std::vector<std::optional<std::uint64_t>> missed_by_;
  // For each other worker, the time at which it gave this worker the oldest of its frames that the
  // WAN port may not have sent yet.
  std::vector<Instant> given_since_;
  // Number of frames for this worker that other workers missed or lost.
  std::uint64_t missed_by_others_ = 0;
  Side lan_;
  Side wan_;
  dpdk::Burst in_;
  std::array<gateway::Frame, dpdk::Burst::kCapacity> looks_;  // only used if there is a team
  // Packets that were allocated, but that the engine has not used yet.
  std::array<dpdk::Packet, dpdk::Burst::kCapacity> spares_;
  // Bridged frames, indexed by the engine's slots.
  std::vector<dpdk::Packet> held_{gateway::Gateway::kMostHeldFrames};
};

}  // namespace satrelay::satrelayd
